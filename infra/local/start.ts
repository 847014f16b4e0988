import inspector from 'node:inspector';
import { planIds, plans } from '../../shared/keys/plans.ts';
import { limitsOfDemoKey } from '../demo-keys.ts';
import { startEmbeddedEngine } from './dynamodb/engine.ts';
import type { LocalServer } from './local-server.ts';
import { LocalServerError } from './local-server-error.ts';
import { isLoopback } from './addresses.ts';
import { parseStartOptions, type StartOptions } from './options.ts';
import { Terminal } from './terminal.ts';

/** The notice for an address that other machines can reach. */
const openAddressWarning =
  'The demo keys are the same on every machine: anyone who reaches this address can use them. ' +
  'Database and control plane, with all other keys, accept only this machine.\n';

// The reader of `npm start | head` has closed the pipe; the server keeps running.
process.stdout.on('error', () => undefined);
// A failure while running, such as a full disk.
process.on('uncaughtException', fail);
try {
  const options = parseStartOptions(process.argv.slice(2));
  if (options) await run(options);
} catch (error) {
  fail(error);
}

function fail(error: unknown): never {
  if (error instanceof LocalServerError) process.stderr.write(`npm start: ${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

/** Runs the service until it is stopped. */
async function run(options: StartOptions): Promise<void> {
  if (options.inspect !== undefined) openInspector(options.inspect);
  const dataDirectory = options.data === 'memory' ? undefined : options.data;
  const terminal = options.quiet || options.json ? undefined : new Terminal();
  // The engine's thread starts while the modules of the server are loaded.
  const engine = startEmbeddedEngine(dataDirectory);
  const { startLocalServer } = await import('./local-server.ts');
  // A restart of the server closes its engine: this one keeps the data until the process ends.
  const lasting = engine.then((one) => ({ ...one, close: () => Promise.resolve() }));
  let stopped: Promise<false> | undefined;
  for (let { port } = options, isRunning = true; isRunning;) {
    const { promise: outdated, resolve } = Promise.withResolvers<true>();
    const watch = options.watch ? () => resolve(true) : undefined;
    const host = await startLocalServer({ ...options, port, dataDirectory, terminal, watch }, lasting);
    const isFirst = !stopped;
    stopped ??= untilSignal();
    if (!options.json) process.stdout.write(startupText(host, dataDirectory));
    else if (isFirst) process.stdout.write(`${JSON.stringify({ baseUrl: host.baseUrl, keys: host.keys })}\n`);
    if (!isLoopback(options.host)) process.stderr.write(openAddressWarning);
    port = Number(new URL(host.baseUrl).port);
    isRunning = await Promise.race([stopped, outdated]);
    await host.close();
  }
  await (await engine).close();
  process.exit(0);
}

/** @throws LocalServerError if the port is in use, which Node.js only prints */
function openInspector(port: number): void {
  inspector.open(port);
  if (inspector.url() !== undefined) return;
  throw new LocalServerError(`No debugger can connect: port ${port} is in use. Choose another: --inspect PORT`);
}

/** Ctrl-C comes twice, from the terminal and from npm: the second must not interrupt saving and cleaning up. */
function untilSignal(): Promise<false> {
  return new Promise((resolve) => {
    // SIGHUP: the terminal was closed.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.removeAllListeners(signal).on(signal, () => resolve(false));
  });
}

function startupText({ baseUrl, keys, logDirectory }: LocalServer, data = 'in memory, deleted at the end'): string {
  const number = new Intl.NumberFormat('en');
  const keyLines = planIds.map((plan) => {
    const { perMinute, perDay } = limitsOfDemoKey(plan);
    const limits = `${number.format(perMinute)} per minute, ${number.format(perDay)} per day`;
    return `    ${plans[plan].title.padEnd(11)}${keys[plan]}  ${limits}`;
  });
  return `
  Pet Store Inventory Service is ready.

    Reference  ${new URL(baseUrl).origin}
    Base URL   ${baseUrl}
    Data       ${data}
    Logs       ${logDirectory}

  Demo keys, one per plan:

${keyLines.join('\n')}

  Try it:

    curl -H 'Authorization: Bearer ${keys.free}' ${baseUrl}/inventory

  Ctrl-C stops it.
`;
}
