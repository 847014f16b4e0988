import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Token } from '../../shared/keys/token.ts';
import { Environments } from '../model/environments.ts';
import { GOOD_NETWORK, VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { Random } from '../support/random.ts';
import { aKey, tokenOf } from '../support/tables.ts';

const TABLE = 'keys';
export const START = Date.UTC(2025, 5, 15, 12, 34);

export interface Sender {
  /** Its requests come with these in turn. */
  readonly tokens: readonly Token[];
  readonly requests: number;
  /** So many clients, each with its next request once the last is answered; or the time of each request, in ms from the start. */
  readonly load: { readonly clients: number } | ((index: number) => number);
}

/** What became of the requests of one sender. */
export interface Served {
  admitted: number;
  /** Requests that could not be counted: 503. */
  failed: number;
  /** Milliseconds to each answer. */
  readonly times: number[];
}

interface Settings {
  readonly environments: number;
  /** Whether a request goes to the environment used last, or to any. */
  readonly isRecent?: boolean;
  /** Writes a second that one item takes; beyond them DynamoDB throttles. */
  readonly writesPerSecond?: number;
  /** Whether all keys together take no more writes than that. */
  readonly isOnePartition?: boolean;
}

export interface Outcome {
  readonly served: readonly Served[];
  /** Writes that DynamoDB carried out, those whose condition was false included; not those that it throttled. */
  readonly writes: number;
  readonly mostWritesInASecond: number;
  /** Execution environments that had a request at the same time. */
  readonly mostBusy: number;
}

/** When each of some steady requests comes. */
export const steadily = (perSecond: number) => (index: number) => (index * 1_000) / perSecond;

/** Requests in virtual time, over execution environments that have one request at a time each. */
export async function serve(
  keys: readonly KeyRecord[],
  senders: readonly Sender[],
  { environments: count, isRecent = false, writesPerSecond = Infinity, isOnePartition = false }: Settings,
): Promise<Outcome> {
  const random = new Random(1);
  const time = new VirtualTime(START, random);
  const writesBySecond = new Map<number, number>();
  const onExecuted = (): void => {
    const second = Math.floor(time.elapsed / 1_000);
    writesBySecond.set(second, (writesBySecond.get(second) ?? 0) + 1);
  };
  const settings = { time, random, network: GOOD_NETWORK, writesPerSecond, isOnePartition, onExecuted };
  const database = new VirtualDynamoDB(settings);
  database.tables.createTable(TABLE, 'recordId');
  for (const key of keys) database.tables.put(TABLE, marshall(key), START);
  const limiters = Array.from({ length: count }, () => new Limiter(database.client, TABLE));
  const environments = new Environments(time, random, count);

  const start = ({ tokens, requests, load }: Sender): Served => {
    const served: Served = { admitted: 0, failed: 0, times: [] };
    let sent = 0;
    const hasMore = (): boolean => sent < requests;
    const send = (): Promise<void> => {
      const token = tokens[sent % tokens.length];
      const sentAt = time.now;
      sent += 1;
      return environments.invoke(isRecent, async ({ index, caller }) => {
        const admit = () => token && limiters[index]?.admit(token, Math.floor(time.now));
        const verdict = await database.as(caller, 'authorizer', admit)?.catch(() => undefined);
        served.times.push(time.now - sentAt);
        if (verdict?.kind === 'admitted') served.admitted += 1;
        if (!verdict) served.failed += 1;
        // What a function does besides asking the table.
        await time.sleep(1 + random.next() * 2);
      });
    };
    const sendNext = (dueAt: (index: number) => number): void => {
      if (!hasMore()) return;
      time.at(START + dueAt(sent), () => {
        void send();
        sendNext(dueAt);
      });
    };
    const runClient = async (): Promise<void> => {
      while (hasMore()) await send();
    };
    if (typeof load === 'function') sendNext(load);
    else for (let client = 0; client < load.clients; client++) time.at(START, () => void runClient());
    return served;
  };
  const served = senders.map(start);
  await time.run();
  const writes = [...writesBySecond.values()];
  const total = writes.reduce((sum, value) => sum + value, 0);
  return { served, writes: total, mostWritesInASecond: Math.max(...writes), mostBusy: environments.mostBusy };
}

/** The requests of one key. */
export async function serveKey(
  differences: Partial<KeyRecord>,
  sender: Omit<Sender, 'tokens'>,
  settings: Settings,
): Promise<Outcome & { readonly admitted: number; readonly failed: number }> {
  const key = aKey({ currentMinute: Math.floor(START / 60_000), ...differences });
  const outcome = await serve([key], [{ ...sender, tokens: [tokenOf(key)] }], settings);
  const { admitted = 0, failed = 0 } = outcome.served[0] ?? {};
  return { ...outcome, admitted, failed };
}
