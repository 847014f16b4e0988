import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { documentsAt } from '../support/local-host.ts';
import { createStockTable } from '../support/tables.ts';
import { atLeast, atMost, type Figure, median, progress, report, timeOf } from './figure.ts';
import { benchHostListing } from './host-listing.ts';
import { bareClient } from './listing.ts';
import { allOperations, assembleUnthrottled, CONNECTIONS, RunningHost, update } from './running-host.ts';

const UPDATES = 20_000;
const MIXED_REQUESTS = 20_000;

/** Start-up, memory, speed and size of the local host, started as a newcomer does. */
export async function benchLocalHost(): Promise<Figure[]> {
  // The first start after a change of the sources synthesises them, and does not count.
  await secondsUntilReady();
  const seconds = median([await secondsUntilReady(), await secondsUntilReady(), await secondsUntilReady()]);
  return [
    atMost('npm start, from the second on: seconds until ready', seconds, 0.7, ' s'),
    ...(await memoryFigures()),
    ...(await speedFigures()),
    ...(await benchHostListing()),
    atMost('host: lines of its sources', linesOf('infra/local'), 3_100),
  ];
}

/** Lines of all sources in a folder. */
function linesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.reduce((lines, name) => lines + readFileSync(join(folder, name), 'utf8').split('\n').length - 1, 0);
}

async function memoryFigures(): Promise<Figure[]> {
  return withHost(async (host, afterStart) => {
    const { requests, peakMegabytes } = await host.load(allOperations, MIXED_REQUESTS);
    const under = `${requests.toLocaleString('en')} requests of all operations`;
    return [
      atMost('host memory after its start', afterStart, 130, ' MB'),
      atMost(`host memory at most, under ${under}`, peakMegabytes, 250, ' MB'),
    ];
  });
}

async function speedFigures(): Promise<Figure[]> {
  return withHost(async (host) => {
    // The first warm up.
    await host.load([update], UPDATES / 10);
    const { requests, duration } = await host.load([update], UPDATES);
    const updates = requests / duration;
    return [
      report(`host: updates a second, from ${CONNECTIONS} connections`, updates),
      atLeast('host: updates a second ÷ UpdateItem calls by the AWS SDK', updates / (await callsOfSdk()), 0.25),
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
  const engine = await startEmbeddedEngine(undefined);
  const documents = documentsAt(engine.endpoint);
  const TableName = await createStockTable(documents);
  documents.destroy();
  const client = bareClient(engine.endpoint);
  let left = UPDATES;
  const callAll = async (): Promise<void> => {
    while (left-- > 0) await client.send(new UpdateItemCommand({ TableName, ...CALL }));
  };
  const milliseconds = await timeOf(() => Promise.all(Array.from({ length: CONNECTIONS }, callAll)));
  client.destroy();
  await engine.close();
  return (UPDATES / milliseconds) * 1_000;
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
