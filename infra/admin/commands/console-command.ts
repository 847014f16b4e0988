import { Command, InvalidArgumentError } from 'commander';
import { serveConsole } from '../console/console-app.ts';
import { targetOption } from '../target-options.ts';
import { findTarget } from '../target.ts';
import { targetOptionsOf } from './options.ts';
import { noticesOf } from './output.ts';

/** `console`. */
export function consoleCommand(): Command {
  return new Command('console')
    .description('serves pages for all of this in the browser, to this machine alone')
    .option('--port <n>', 'port that it is served at; 0 is any that is free', parsePort, 0)
    .action((options: { readonly port: number }, command: Command) => serve(options.port, command));
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port < 65_536) return port;
  throw new InvalidArgumentError('It must be a port: a whole number from 0 to 65535.');
}

/** No browser is opened: what is in the arguments of a program, every user of the machine can read. */
async function serve(port: number, command: Command): Promise<void> {
  const options = targetOptionsOf(command);
  const target = await findTarget(options, noticesOf(targetOption(options)));
  const { link } = await serveConsole(target, port);
  process.stdout.write(`
  The console of ${target.place} is at

    ${link}

  Open the address in a browser. It works once. Ctrl-C stops the console.
`);
}
