import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import autocannon from 'autocannon';
import * as v from 'valibot';
import { demoKey } from '../../infra/demo-keys.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { engineClient } from './engine-client.ts';
import { atMost, type Figure, median } from './figure.ts';

const CONNECTIONS = 50;
const REQUESTS = 100_000;

const packageSchema = v.object({ scripts: v.object({ start: v.pipe(v.string(), v.startsWith('exec node ')) }) });
const readySchema = v.object({ baseUrl: v.string() });
const outputsSchema = v.object({ KeysTableName: v.string() });

interface RunningHost {
  readonly child: ChildProcess;
  readonly baseUrl: string;
}

/** Start-up and memory of the local host, started as a newcomer does. */
export async function benchLocalHost(): Promise<Figure[]> {
  const seconds = median([await secondsUntilReady(), await secondsUntilReady(), await secondsUntilReady()]);
  const host = await start();
  try {
    const memoryAfterStart = residentMegabytes(host.child);
    await load(host);
    const memoryAfterMany = residentMegabytes(host.child);
    return [
      atMost('npm start, from the second on: seconds until ready', seconds, 1.5, ' s'),
      atMost('host memory after its start', memoryAfterStart, 250, ' MB'),
      atMost(`host memory after ${REQUESTS.toLocaleString('en')} requests`, memoryAfterMany, 500, ' MB'),
    ];
  } finally {
    await stop(host.child);
  }
}

/** Seconds from `npm start` to its ready line. */
async function secondsUntilReady(): Promise<number> {
  const startedAt = performance.now();
  const { child } = await spawnHost('npm', ['start', '--silent', '--']);
  const seconds = (performance.now() - startedAt) / 1_000;
  await stop(child);
  return seconds;
}

/** Starts a host whose Enterprise demo key has limits that the bench cannot reach. */
export async function start(): Promise<RunningHost> {
  const { child, baseUrl } = await spawnHost(process.execPath, startArguments());
  const outputs = v.parse(outputsSchema, await (await fetch(new URL('/outputs.json', baseUrl))).json());
  await engineClient(new URL('/', baseUrl)).send(
    new UpdateCommand({
      TableName: outputs.KeysTableName,
      Key: { keyHash: hashApiKey(demoKey('enterprise')) },
      UpdateExpression: 'SET perMinute = :many, perDay = :many',
      ExpressionAttributeValues: { ':many': 1_000_000_000 },
    }),
  );
  return { child, baseUrl };
}

/** What `npm start` gives to Node.js. Without npm in between, the process is the host's own, and its memory too. */
function startArguments(): string[] {
  const { scripts } = v.parse(packageSchema, JSON.parse(readFileSync('package.json', 'utf8')));
  return scripts.start.split(' ').slice(2);
}

async function spawnHost(command: string, leading: string[]): Promise<{ child: ChildProcess; baseUrl: string }> {
  const child = spawn(command, [...leading, '--json', '--port', '0', '--data', 'memory'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, baseUrl: v.parse(readySchema, JSON.parse(String(line))).baseUrl };
}

export async function stop(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

function residentMegabytes({ pid }: ChildProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1_000;
}

async function load({ baseUrl }: RunningHost): Promise<void> {
  const result = await autocannon({
    url: `${baseUrl}/inventory/701`,
    method: 'PATCH',
    headers: { authorization: `Bearer ${demoKey('enterprise')}`, 'content-type': 'application/json' },
    body: '{"quantity":5}',
    connections: CONNECTIONS,
    amount: REQUESTS,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} requests were not answered with 200, ${result.errors} not at all`);
  }
}

/** What a pipeline waits for before it deploys: `cdk synth` of both stages, with all checks of the templates. */
export function benchSynthesis(): Figure[] {
  const seconds = median(Array.from({ length: 3 }, secondsOfSynthesis));
  return [atMost('cdk synth of both stages, with its checks: seconds', seconds, 15, ' s')];
}

function secondsOfSynthesis(): number {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-synthesis-'));
  const startedAt = performance.now();
  const { status, stderr } = spawnSync('npx', ['cdk', 'synth', '--quiet', '--output', folder], { encoding: 'utf8' });
  const seconds = (performance.now() - startedAt) / 1_000;
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0) throw new Error(`cdk synth has failed: ${stderr}`);
  return seconds;
}
