import { Command, CommanderError } from 'commander';
import { failureText } from './admin-error.ts';
import { consoleCommand } from './commands/console-command.ts';
import { keysCommand } from './commands/keys-command.ts';
import { inventoryCommand, ordersCommand, petsCommand } from './commands/record-commands.ts';
import { plansCommand, usageCommand } from './commands/usage-command.ts';
import { visibleLines } from './text-format.ts';

/** `npm run admin -- …`: what the admin of a store does. */
const program = new Command('npm run admin --')
  .description('Administers the pet store inventory service, on this machine or on AWS.')
  .addCommand(keysCommand())
  .addCommand(usageCommand())
  .addCommand(plansCommand())
  .addCommand(inventoryCommand())
  .addCommand(petsCommand())
  .addCommand(ordersCommand())
  .addCommand(consoleCommand());

/** The command whose options or arguments are wrong. */
let refusing = nameOf(program);

for (const command of withSubcommands(program)) {
  command
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => (refusing = nameOf(command)) })
    .exitOverride();
}

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `… | head` has read enough.
  if (code !== 'EPIPE') process.stderr.write(`Cannot print the result: ${message}\n`);
  process.exit(1);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) {
    process.exit(error.exitCode);
  }
  process.stderr.write(`${visibleLines(messageOf(error))}\n`);
  process.exit(1);
}

function messageOf(error: unknown): string {
  if (error instanceof CommanderError) {
    return `${error.message.replace(/^error: /, '').replaceAll('\n', ' ')} (see ${refusing} --help)`;
  }
  const text = failureText(error, 'run the same command again');
  return text ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** `npm run admin -- keys create`. */
function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
