import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import autocannon from 'autocannon';
import * as v from 'valibot';
import { cacheFolder } from '../../infra/local/assemble.ts';
import { demoKey } from '../../infra/demo-keys.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { engineClient } from './engine-client.ts';
import { atMost, type Figure, median, report } from './figure.ts';

const CONNECTIONS = 50;
const SECONDS = 10;
const FEW = 1_000;
const MANY = 100_000;

const packageSchema = v.object({ scripts: v.object({ start: v.pipe(v.string(), v.startsWith('exec node ')) }) });
const readySchema = v.object({ baseUrl: v.string() });
const outputsSchema = v.object({ StockTableName: v.string(), KeysTableName: v.string() });

interface RunningHost {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  readonly stockTable: string;
}

/** Start-up, throughput and memory of the local host, started as a newcomer does. */
export async function benchLocalHost(): Promise<Figure[]> {
  const first = await secondsUntilReadyAtFirst();
  const again = median([await secondsUntilReady(), await secondsUntilReady(), await secondsUntilReady()]);
  const host = await start();
  try {
    const memoryAfterStart = residentMegabytes(host.child);
    await load(host, { amount: FEW });
    const memoryAfterFew = residentMegabytes(host.child);
    const whole = await load(host, { duration: SECONDS });
    const bare = await bareUpdatesPerSecond(host);
    await load(host, { amount: MANY - FEW });
    const memoryAfterMany = residentMegabytes(host.child);
    return [
      report('npm start, the first: seconds until ready', first, ' s'),
      atMost('npm start, the next: seconds until ready', again, 1.5, ' s'),
      atMost('npm start: the next ÷ the first', again / first, 0.5),
      report(`PATCH through the whole host, ${CONNECTIONS} connections`, whole.requests.average, ' requests a second'),
      report(`bare UpdateItem calls to the same engine, ${CONNECTIONS} at once`, bare, ' calls a second'),
      atMost(
        `host memory after ${MANY.toLocaleString('en')} requests ÷ after ${FEW.toLocaleString('en')}`,
        memoryAfterMany / memoryAfterFew,
        1.5,
      ),
      atMost('host memory after its start', memoryAfterStart, 250, ' MB'),
      atMost(`host memory after ${MANY.toLocaleString('en')} requests`, memoryAfterMany, 500, ' MB'),
    ];
  } finally {
    await stop(host.child);
  }
}

/** The same with nothing kept of an earlier start. */
function secondsUntilReadyAtFirst(): Promise<number> {
  rmSync(cacheFolder, { recursive: true, force: true });
  return secondsUntilReady();
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
  return { child, baseUrl, stockTable: outputs.StockTableName };
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

async function load(
  { baseUrl }: RunningHost,
  extent: Pick<autocannon.Options, 'amount' | 'duration'>,
): Promise<autocannon.Result> {
  const result = await autocannon({
    url: `${baseUrl}/inventory/701`,
    method: 'PATCH',
    headers: { authorization: `Bearer ${demoKey('enterprise')}`, 'content-type': 'application/json' },
    body: '{"quantity":5}',
    connections: CONNECTIONS,
    ...extent,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} requests were not answered with 200, ${result.errors} not at all`);
  }
  return result;
}

async function bareUpdatesPerSecond({ baseUrl, stockTable }: RunningHost): Promise<number> {
  const client = engineClient(new URL('/', baseUrl));
  const end = performance.now() + SECONDS * 1_000;
  let calls = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < end) {
      await client.send(
        new UpdateCommand({
          TableName: stockTable,
          Key: { storeId: STORE_ID, petId: 701 },
          UpdateExpression: 'SET quantity = :quantity',
          ExpressionAttributeValues: { ':quantity': 5 },
        }),
      );
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return calls / SECONDS;
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
