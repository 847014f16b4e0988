import { readFileSync } from 'node:fs';
import { Command, Help } from 'commander';
import { withoutTokens } from '../../shared/keys/token.ts';
import { consoleCommand } from './commands/console-command.ts';
import { keysCommand } from './commands/keys-command.ts';
import { inventoryCommand, ordersCommand, petsCommand, restoreCommand } from './commands/record-commands.ts';
import { targetOptionsOf, withTargetOptions } from './commands/options.ts';
import { usageCommand } from './commands/usage-command.ts';
import { failureText } from './service/failures.ts';
import { targetOption, visible, visibleLines, withTarget } from './service/text.ts';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** The admin command, `npm run admin -- …`. */
const program = withTargetOptions(new Command('npm run admin --'))
  .version(version)
  .description('Administer the Pet Store Inventory Service, on this machine or on AWS.')
  .addCommand(keysCommand())
  .addCommand(usageCommand())
  .addCommand(inventoryCommand())
  .addCommand(petsCommand())
  .addCommand(ordersCommand())
  .addCommand(restoreCommand())
  .addCommand(consoleCommand())
  .addHelpText('after', "\nExample:\n  npm run admin -- keys create --name 'Acme Pets' --plan free");

const help = new Help();

/** A message of Commander, which quotes the argument, in one line. */
const usageError = (message: string): string =>
  visible(
    withoutTokens(message.trimEnd())
      .replace(/^error: /, '')
      .replaceAll('\n', ' '),
  );

/** Configures a command and its subcommands. @param name such as `npm run admin -- keys create` */
function configure(command: Command, name: string): void {
  command
    .helpCommand(false)
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: (option) => `${help.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .configureOutput({ outputError: (message, write) => write(`${usageError(message)} (see ${name} --help)\n`) });
  for (const each of command.commands) configure(each, `${name} ${each.name()}`);
}

configure(program, program.name());

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `… | head` closes the pipe early.
  if (code !== 'EPIPE') process.stderr.write(`Cannot print the result: ${message}\n`);
  process.exit(1);
});

// `help keys create` is `keys create --help`.
const [first, ...rest] = process.argv.slice(2);
try {
  await program.parseAsync(first === 'help' ? [...rest, '--help'] : process.argv.slice(2), { from: 'user' });
} catch (error) {
  process.stderr.write(`${visibleLines(failureOf(error))}\n`);
  process.exit(1);
}

function failureOf(error: unknown): string {
  const text = failureText(error, 'run the same command again');
  if (text !== undefined) return withTarget(withoutTokens(text), targetOption(targetOptionsOf(program)));
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
