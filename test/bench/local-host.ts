import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { UpdateUsagePlanCommand } from '@aws-sdk/client-api-gateway';
import autocannon from 'autocannon';
import * as v from 'valibot';
import { cataloguePlanId } from '../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../infra/admin/keys/move-key.ts';
import { findTarget } from '../../infra/admin/target.ts';
import { demoKey } from '../../infra/demo-keys.ts';
import { atMost, type Figure, median, progress, report } from './figure.ts';

const CONNECTIONS = 50;
const REQUESTS = 100_000;
/** Where the machine is too slow for all of them in this time, the figure says how many there were. */
const LONGEST_MS = 90_000;

const FIRST_LISTS = 2_000;
const LISTS = 20_000;
const LONGEST_LISTING_MS = 600_000;

const packageSchema = v.object({ scripts: v.object({ start: v.pipe(v.string(), v.startsWith('exec node ')) }) });
const readySchema = v.object({ baseUrl: v.string() });

const DEMO_KEY_ID = 'demo-enterprise';
/** Requests a minute and a day. */
const MANY = 1_000_000_000;

interface RunningHost {
  readonly child: ChildProcess;
  readonly baseUrl: string;
}

/** Start-up and memory of the local host, started as a newcomer does. */
export async function benchLocalHost(): Promise<Figure[]> {
  // The first start after a change of the sources synthesises them, and does not count.
  await secondsUntilReady();
  const seconds = median([await secondsUntilReady(), await secondsUntilReady(), await secondsUntilReady()]);
  const { scripts } = v.parse(packageSchema, JSON.parse(readFileSync('package.json', 'utf8')));
  // Without npm in between, the process is the host's own, and its memory too.
  const start = () => startHost(process.execPath, scripts.start.split(' ').slice(2));
  const growth = await growthOverLists(await start());
  const host = await start();
  try {
    const memoryAfterStart = residentMegabytes(host.child);
    await liftLimits(host.baseUrl);
    const { requests, duration } = await load(host.baseUrl, update, REQUESTS);
    return [
      atMost('npm start, from the second on: seconds until ready', seconds, 1.5, ' s'),
      atMost('host memory after its start', memoryAfterStart, 250, ' MB'),
      atMost(`host memory after ${requests.toLocaleString('en')} requests`, residentMegabytes(host.child), 500, ' MB'),
      atMost('host memory: after 20,000 lists ÷ after 2,000', growth, 1.1),
      report(`host: updates a second, from ${CONNECTIONS} connections`, requests / duration),
    ];
  } finally {
    await stop(host.child);
  }
}

/** How the memory of a host grows over many lists of the sample store. */
async function growthOverLists({ child, baseUrl }: RunningHost): Promise<number> {
  try {
    await liftLimits(baseUrl);
    await load(baseUrl, list, FIRST_LISTS);
    const before = residentMegabytes(child);
    await load(baseUrl, list, LISTS - FIRST_LISTS, LONGEST_LISTING_MS);
    return residentMegabytes(child) / before;
  } finally {
    await stop(child);
  }
}

/** Seconds from `npm start` to its ready line. */
async function secondsUntilReady(): Promise<number> {
  progress('starting a host');
  const startedAt = performance.now();
  const { child } = await startHost('npm', ['start', '--silent', '--']);
  const seconds = (performance.now() - startedAt) / 1_000;
  await stop(child);
  return seconds;
}

/** @throws Error with what the host has said where it ends before it is ready */
async function startHost(command: string, leading: string[]): Promise<RunningHost> {
  const child = spawn(command, [...leading, '--json', '--port', '0', '--data', 'memory'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = text(child.stderr);
  const [line]: string[] = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data'),
    once(child.stdout, 'end'),
  ]);
  if (line === undefined) throw new Error(`The host has ended before it was ready: ${await errors}`);
  return { child, baseUrl: v.parse(readySchema, JSON.parse(line)).baseUrl };
}

async function stop(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

function residentMegabytes({ pid }: ChildProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1_000;
}

/** Lifts the limits of the Enterprise demo key, and the throttle of its usage plan, which is that of the stage. */
async function liftLimits(baseUrl: string): Promise<void> {
  const quiet = { throttled: () => undefined, unreadable: () => undefined, incomplete: () => undefined };
  const target = await findTarget({ url: baseUrl }, quiet);
  const patchOperations = [{ op: 'remove' as const, path: '/throttle' }];
  const usagePlanId = await cataloguePlanId(target, 'enterprise');
  await target.gateway.send(new UpdateUsagePlanCommand({ usagePlanId, patchOperations }));
  // With its tags in API Gateway: a sync would undo what is in the keys table alone.
  await moveKey(target, DEMO_KEY_ID, 'enterprise', { perMinute: MANY, perDay: MANY });
  target.gateway.destroy();
  target.documents.destroy();
}

const update = { path: '/inventory/701', method: 'PATCH', body: '{"quantity":5}' } as const;
const list = { path: '/inventory', method: 'GET' } as const;

/** Sends requests with the Enterprise demo key. @returns their number, and the seconds */
async function load(
  baseUrl: string,
  { path, ...request }: typeof update | typeof list,
  amount: number,
  longestMs = LONGEST_MS,
): Promise<{ requests: number; duration: number }> {
  const { promise, resolve } = Promise.withResolvers<autocannon.Result>();
  const settings = {
    ...request,
    url: `${baseUrl}${path}`,
    headers: { authorization: `Bearer ${demoKey('enterprise')}`, 'content-type': 'application/json' },
    connections: CONNECTIONS,
    amount,
  };
  let requests = 0;
  const running = autocannon(settings, (_, outcome) => resolve(outcome)).on('response', () => {
    requests += 1;
    if (requests % 10_000 === 0) progress(`${requests} of ${amount} requests`);
  });
  const timer = setTimeout(() => running.stop(), longestMs);
  const { non2xx, errors, duration } = await promise;
  clearTimeout(timer);
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} requests were not answered with 200, ${errors} not at all`);
  return { requests, duration };
}

/** What a pipeline waits for before it deploys: `cdk synth` of both stages, with all checks of the templates. */
export function benchSynthesis(): Figure[] {
  const seconds = median(Array.from({ length: 3 }, secondsOfSynthesis));
  return [atMost('cdk synth of both stages, with its checks: seconds', seconds, 15, ' s')];
}

function secondsOfSynthesis(): number {
  progress('cdk synth');
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-synthesis-'));
  try {
    const startedAt = performance.now();
    // What it says where it fails is in the error.
    execFileSync('npx', ['cdk', 'synth', '--quiet', '--output', folder], { stdio: 'pipe' });
    return (performance.now() - startedAt) / 1_000;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
