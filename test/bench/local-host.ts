import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type Engine, startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { documentsAt } from '../support/local-host.ts';
import { createStockTable } from '../support/tables.ts';
import { atLeast, atMost, type Figure, median, progress, report, timeOf } from './figure.ts';
import { bareClient } from './listing.ts';
import { allOperations, assembleUnthrottled, CONNECTIONS, list, RunningHost, send, update } from './running-host.ts';

const UPDATES = 20_000;
const MIXED_REQUESTS = 20_000;
/** Until what the load needed has come to its end. */
const REST_MS = 35_000;

const FIRST_LISTS = 2_000;
const LISTS = 20_000;
const LONGEST_LISTING_MS = 600_000;

/** Start-up, memory and speed of the local host, started as a newcomer does. */
export async function benchLocalHost(): Promise<Figure[]> {
  // The first start after a change of the sources synthesises them, and does not count.
  await secondsUntilReady();
  const seconds = median([await secondsUntilReady(), await secondsUntilReady(), await secondsUntilReady()]);
  return [
    atMost('npm start, from the second on: seconds until ready', seconds, 1.5, ' s'),
    ...(await memoryFigures()),
    atMost('host memory: after 20,000 lists ÷ after 2,000', await growthOverLists(), 1.1),
    ...(await speedFigures()),
  ];
}

async function memoryFigures(): Promise<Figure[]> {
  return withHost(async (host, afterStart) => {
    const { requests, peakMegabytes } = await host.load(allOperations, MIXED_REQUESTS);
    await sleep(REST_MS);
    const under = `${requests.toLocaleString('en')} requests of all operations`;
    return [
      atMost('host memory after its start', afterStart, 250, ' MB'),
      atMost(`host memory at most, under ${under}`, peakMegabytes, 350, ' MB'),
      atMost(`host memory ${REST_MS / 1_000} s after them`, host.residentMegabytes(), 200, ' MB'),
    ];
  });
}

/** How the memory of a host grows over many lists of the sample store. */
async function growthOverLists(): Promise<number> {
  return withHost(async (host) => {
    await host.load([list], FIRST_LISTS);
    const before = host.residentMegabytes();
    await host.load([list], LISTS - FIRST_LISTS, LONGEST_LISTING_MS);
    return host.residentMegabytes() / before;
  });
}

async function speedFigures(): Promise<Figure[]> {
  return withHost(async (host) => {
    // The first warm up.
    await host.load([update], UPDATES / 10);
    const { requests, duration } = await host.load([update], UPDATES);
    const updates = requests / duration;
    const what = 'host: updates a second ÷ UpdateItem calls of the same engine';
    return [
      report(`host: updates a second, from ${CONNECTIONS} connections`, updates),
      atLeast(`${what} by the AWS SDK`, updates / (await callsOfSdk()), 0.2),
      report(`${what} by a load generator`, updates / (await callsOfLoadGenerator())),
    ];
  });
}

/** Measures at a host of its own, whose limits are lifted. */
async function withHost<Result>(
  measure: (host: RunningHost, megabytesAfterStart: number) => Promise<Result>,
): Promise<Result> {
  const assembly = mkdtempSync(join(tmpdir(), 'assembly-'));
  await assembleUnthrottled(assembly);
  const host = await RunningHost.start(['--assembly', assembly]);
  try {
    const megabytes = host.residentMegabytes();
    await host.liftLimits();
    return await measure(host, megabytes);
  } finally {
    await host.stop();
    rmSync(assembly, { recursive: true });
  }
}

const CALL = {
  Key: { storeId: { S: 'bench' }, petId: { N: '1' } },
  UpdateExpression: 'SET quantity = :quantity',
  ExpressionAttributeValues: { ':quantity': { N: '5' } },
};

/** UpdateItem calls a second over as many connections as the host's clients have, from this process. */
async function callsOfSdk(): Promise<number> {
  return withStockTable(async ({ endpoint }, TableName) => {
    const client = bareClient(endpoint);
    let left = UPDATES;
    const callAll = async (): Promise<void> => {
      while (left-- > 0) await client.send(new UpdateItemCommand({ TableName, ...CALL }));
    };
    const milliseconds = await timeOf(() => Promise.all(Array.from({ length: CONNECTIONS }, callAll)));
    client.destroy();
    return (UPDATES / milliseconds) * 1_000;
  });
}

/** The same without an SDK: a load generator sends one text again and again. */
async function callsOfLoadGenerator(): Promise<number> {
  return withStockTable(async ({ endpoint }, TableName) => {
    // The engine wants a signature, and does not look at it.
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.UpdateItem',
      'x-amz-date': '20260101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/b/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    };
    const body = JSON.stringify({ TableName, ...CALL });
    const kinds = [{ method: 'POST', path: endpoint.pathname, body, status: 200 }] as const;
    const { requests, duration } = await send({ url: endpoint.origin, headers, kinds, amount: UPDATES });
    return requests / duration;
  });
}

async function withStockTable(measure: (engine: Engine, tableName: string) => Promise<number>): Promise<number> {
  const engine = await startEmbeddedEngine(undefined);
  const documents = documentsAt(engine.endpoint);
  const tableName = await createStockTable(documents);
  documents.destroy();
  const measured = await measure(engine, tableName);
  await engine.close();
  return measured;
}

/** Seconds from `npm start` to its ready line. */
async function secondsUntilReady(): Promise<number> {
  progress('starting a host');
  const startedAt = performance.now();
  const host = await RunningHost.startWithNpm();
  const seconds = (performance.now() - startedAt) / 1_000;
  await host.stop();
  return seconds;
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
    // The error has the output of one that fails.
    execFileSync('npx', ['cdk', 'synth', '--quiet', '--output', folder], { stdio: 'pipe' });
    return (performance.now() - startedAt) / 1_000;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
