import { spawn } from 'node:child_process';
import { Command, InvalidArgumentError } from 'commander';
import { serveConsole } from '../console/console-app.ts';
import { findTarget, type TargetOptions } from '../target.ts';
import { withTargetOptions } from './options.ts';
import { notices } from './output.ts';

type Options = TargetOptions & { readonly port: number; readonly open: boolean };

/** `console`. */
export function consoleCommand(): Command {
  return withTargetOptions(new Command('console'))
    .description('serves pages for all of this in the browser, to this machine alone')
    .option('--port <n>', 'port that it is served at; 0 is any that is free', parsePort, 0)
    .option('--no-open', 'do not open a browser')
    .action(serve);
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port < 65_536) return port;
  throw new InvalidArgumentError('It must be a port: a whole number from 0 to 65535.');
}

async function serve(options: Options): Promise<void> {
  const target = await findTarget(options, notices);
  const { link } = await serveConsole(target, options.port);
  process.stdout.write(`
  The console of ${target.place} is at

    ${link}

  The address works once. Ctrl-C stops the console.
`);
  if (options.open && process.stdout.isTTY) openBrowser(link);
}

function openBrowser(link: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [link], { stdio: 'ignore', detached: true });
  child.once('error', () => process.stderr.write('  No browser could be opened: open the address in one.\n')).unref();
}
