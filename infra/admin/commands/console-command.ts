import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import { Command, InvalidArgumentError } from 'commander';
import { AdminError } from '../admin-error.ts';
import { createConsole } from '../console/console-app.ts';
import { newSecret } from '../console/guard.ts';
import { findTarget, type TargetOptions } from '../target.ts';
import { withTargetOptions } from './options.ts';
import { notices } from './output.ts';

/** Other machines cannot reach it. */
const LOOPBACK = '127.0.0.1';

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
  const token = newSecret();
  // It is asked only once the port is known.
  let app: ReturnType<typeof createConsole> | undefined;
  const fetch = (request: Request, env: object) => app?.fetch(request, env) ?? new Response(null, { status: 503 });
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false });
  server.listen(options.port, LOOPBACK);
  await once(server, 'listening').catch((error: unknown) => {
    throw new AdminError(`The port ${options.port} cannot be used (${String(error)}). Choose another with --port.`);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const origin = `http://${LOOPBACK}:${port}`;
  app = createConsole({ target, stage: options.stage, origin, token });
  const link = `${origin}/?token=${token}`;
  process.stdout.write(
    `\n  The console of ${target.place} is at\n\n    ${link}\n\n  The address works once. Ctrl-C stops it.\n`,
  );
  if (options.open && process.stdout.isTTY) openBrowser(link);
}

function openBrowser(link: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [link], { stdio: 'ignore', detached: true });
  child.once('error', () => process.stderr.write('  No browser could be opened: open the address in one.\n')).unref();
}
