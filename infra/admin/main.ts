import { readFileSync } from 'node:fs';
import { Command, CommanderError, Help } from 'commander';
import * as v from 'valibot';
import { withoutTokens } from '../../shared/keys/token.ts';
import { failureText } from './service/failures.ts';
import { consoleCommand } from './commands/console-command.ts';
import { keysCommand } from './commands/keys-command.ts';
import { inventoryCommand, ordersCommand, petsCommand } from './commands/record-commands.ts';
import { targetOptionsOf, withTargetOptions } from './commands/options.ts';
import { restoreCommand } from './commands/restore-command.ts';
import { usageCommand } from './commands/usage-command.ts';
import { targetOption } from './service/target-options.ts';
import { visibleLines, withTarget } from './service/text.ts';

const { version } = v.parse(
  v.object({ version: v.string() }),
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
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

/** The command with invalid options or arguments. */
let failing = nameOf(program);

const help = new Help();
for (const command of withSubcommands(program)) {
  const name = nameOf(command);
  command
    .helpCommand(false)
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: (option) => `${help.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .configureOutput({ outputError: () => (failing = name) })
    .exitOverride();
}

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `… | head` closes the pipe early.
  if (code !== 'EPIPE') process.stderr.write(`Cannot print the result: ${message}\n`);
  process.exit(1);
});

try {
  await program.parseAsync(helpAsOption(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) {
    process.exit(error.exitCode);
  }
  process.stderr.write(`${visibleLines(messageOf(error))}\n`);
  process.exit(1);
}

function messageOf(error: unknown): string {
  if (error instanceof CommanderError) {
    // It quotes the argument.
    const message = withoutTokens(error.message)
      .replace(/^error: /, '')
      .replaceAll('\n', ' ');
    return `${message} (see ${failing} --help)`;
  }
  const text = failureText(error, 'run the same command again');
  if (text !== undefined) return withTarget(withoutTokens(text), targetOption(targetOptionsOf(program)));
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** `help keys create` is `keys create --help`. */
function helpAsOption(words: readonly string[]): string[] {
  return words[0] === 'help' ? [...words.slice(1), '--help'] : [...words];
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** `npm run admin -- keys create`. */
function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
