import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { type WriteCount, countWrites } from '../support/counted-writes.ts';
import { KeysTable } from '../support/keys-table.ts';
import { engineClient } from './engine-client.ts';
import { atLeast, atMost, type Figure } from './figure.ts';

const START = Date.UTC(2025, 5, 15, 12, 34);
const MINUTE_MS = 60_000;
/** What one execution environment serves: one request at a time, of 4 ms. */
const PER_ENVIRONMENT_AND_SECOND = 250;
const MIN_USABLE_PERCENT = 95;
/** DynamoDB takes some 1,000 writes a second to one item. */
const MAX_WRITES_PER_SECOND = 1_000;

/** A limit, and the writes per 1,000 requests it may cost; one that is not leased costs one for each, and one a minute. */
const limits = [
  { perMinute: 60, maxWrites: 1_020 },
  { perMinute: 1_000, maxWrites: 1_020 },
  { perMinute: 100_000, maxWrites: 20 },
  { perMinute: 1_000_000, maxWrites: 20 },
] as const;

interface Minute {
  readonly environments: number;
  readonly admitted: number;
  readonly writes: number;
  /** In the second that had the most. */
  readonly writesInOneSecond: number;
}

/**
 * What a key costs in writes under steady load at its limit, and how much of the limit can be used: a minute of virtual
 * time, the first of its day, over the embedded engine. The requests take turns among as many execution environments
 * as serve 250 a second each; those of one millisecond are concurrent.
 */
export async function benchLeases(): Promise<Figure[]> {
  const engine = await startEmbeddedEngine(undefined);
  const client = engineClient(engine.endpoint);
  const table = await KeysTable.create(client);
  const count = countWrites(client);
  const figures: Figure[] = [];
  for (const { perMinute, maxWrites } of limits) {
    const { environments, admitted, writes, writesInOneSecond } = await minuteAtLimit(client, table, count, perMinute);
    const what = `${label(perMinute)} a minute from ${environments} environment${environments === 1 ? '' : 's'}`;
    figures.push(
      atMost(`${what}: writes per 1,000 requests`, (writes / perMinute) * 1_000, maxWrites),
      atMost(`${what}: most writes in a second`, writesInOneSecond, MAX_WRITES_PER_SECOND),
      atLeast(`${what}: share of the limit that is usable`, (admitted / perMinute) * 100, MIN_USABLE_PERCENT, ' %'),
    );
  }
  client.destroy();
  await engine.close();
  return figures;
}

async function minuteAtLimit(
  client: DynamoDBDocumentClient,
  table: KeysTable,
  count: WriteCount,
  perMinute: number,
): Promise<Minute> {
  const { keyHash } = await table.issue({ perMinute, perDay: 1_440 * perMinute });
  const environments = Math.ceil(perMinute / 60 / PER_ENVIRONMENT_AND_SECOND);
  const limiters = Array.from({ length: environments }, () => new Limiter(client, table.name));
  const admit = async (request: number, now: number) => limiters[request % environments]?.admit(keyHash, now);
  const before = count.writes;
  const secondsWrites: number[] = [];
  let sent = 0;
  let admitted = 0;
  for (let time = 0; time < MINUTE_MS; time++) {
    if (time % 1_000 === 0) secondsWrites.push(-count.writes);
    const due = Math.ceil((perMinute * (time + 1)) / MINUTE_MS);
    const batch = Array.from({ length: due - sent }, (_, index) => admit(sent + index, START + time));
    const verdicts = await Promise.all(batch);
    sent += verdicts.length;
    admitted += verdicts.filter((verdict) => verdict?.kind === 'admitted').length;
    if (time % 1_000 === 999) secondsWrites.push((secondsWrites.pop() ?? 0) + count.writes);
  }
  return { environments, admitted, writes: count.writes - before, writesInOneSecond: Math.max(...secondsWrites) };
}

const label = (count: number): string => count.toLocaleString('en');
