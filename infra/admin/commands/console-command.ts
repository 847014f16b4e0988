import { Command } from 'commander';
import { serveConsole } from '../console/console-app.ts';
import { wholeNumberUpTo } from '../keys/inputs.ts';
import { targetOption } from '../service/text.ts';
import { findTarget } from '../service/target.ts';
import { targetOptionsOf } from './options.ts';
import { reporter } from './output.ts';

/** `console`. It opens no browser: every user of the machine can read the arguments of a process. */
export function consoleCommand(): Command {
  return new Command('console')
    .description('Start the admin console on this machine (loopback only): usage, keys and stock')
    .option('--port <n>', 'port of the console (default: a free port)', wholeNumberUpTo(65_535))
    .action(async ({ port = 0 }: { readonly port?: number }, command: Command) => {
      const options = targetOptionsOf(command);
      const target = await findTarget(options, reporter(targetOption(options)));
      const { link } = await serveConsole(target, port);
      process.stdout.write(
        `\n  Admin console of ${target.place}:\n\n    ${link}\n\n` +
          '  Open the link in a browser. It can be used once. Press Ctrl-C to stop the console.\n',
      );
    });
}
