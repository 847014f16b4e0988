import { Command } from 'commander';
import { serveConsole } from '../console/console-app.ts';
import { wholeNumberUpTo } from '../inputs.ts';
import { targetOption } from '../target-options.ts';
import { findTarget } from '../target.ts';
import { targetOptionsOf } from './options.ts';
import { progressListener } from './output.ts';

/** `console`. No browser is opened: what is in the arguments of a program, every user of the machine can read. */
export function consoleCommand(): Command {
  return new Command('console')
    .description(
      'serves pages in the browser, to this machine alone: usage, keys, stock; not sync, restore, pets, orders',
    )
    .option('--port <n>', 'port that it is served at; otherwise any that is free', wholeNumberUpTo(65_535))
    .action(async ({ port = 0 }: { readonly port?: number }, command: Command) => {
      const options = targetOptionsOf(command);
      const target = await findTarget(options, progressListener(targetOption(options)));
      const { link } = await serveConsole(target, port);
      process.stdout.write(
        `\n  The console of ${target.place} is at\n\n    ${link}\n\n` +
          '  Open the address in a browser. It works once. Ctrl-C stops the console.\n',
      );
    });
}
