import { Command, InvalidArgumentError } from 'commander';
import { serveConsole } from '../console/console-app.ts';
import { findTarget, type TargetOptions } from '../target.ts';
import { withTargetOptions } from './options.ts';
import { notices } from './output.ts';

/** `console`. */
export function consoleCommand(): Command {
  return withTargetOptions(new Command('console'))
    .description('serves pages for all of this in the browser, to this machine alone')
    .option('--port <n>', 'port that it is served at; 0 is any that is free', parsePort, 0)
    .action(serve);
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port < 65_536) return port;
  throw new InvalidArgumentError('It must be a port: a whole number from 0 to 65535.');
}

/** No browser is opened: what is in the arguments of a program, every user of the machine can read. */
async function serve(options: TargetOptions & { readonly port: number }): Promise<void> {
  const target = await findTarget(options, notices);
  const { link } = await serveConsole(target, options.port);
  process.stdout.write(`
  The console of ${target.place} is at

    ${link}

  Open the address in a browser. It works once. Ctrl-C stops the console.
`);
}
