import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const { link, entered } = await serveConsole(target, options.port);
  process.stdout.write(`
  The console of ${target.place} is at

    ${link}

  The address works once. Ctrl-C stops the console.
`);
  if (!options.open || !process.stdout.isTTY) return;
  try {
    const { file, remove } = temporaryFile(`<!doctype html><meta http-equiv="refresh" content="0; url=${link}">`);
    void entered.then(remove);
    openBrowser(file);
  } catch {
    noBrowser();
  }
}

const noBrowser = (): void => void process.stderr.write('  No browser could be opened: open the address in one.\n');

/**
 * A page in a folder that only this user may read: what is in the arguments of a program, every user of the machine can.
 * It goes with this program at the latest.
 */
function temporaryFile(html: string): { readonly file: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-console-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const file = join(folder, 'open.html');
  writeFileSync(file, html, { mode: 0o600 });
  return { file, remove };
}

function openBrowser(file: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [file], { stdio: 'ignore', detached: true });
  child.once('error', noBrowser).unref();
}
