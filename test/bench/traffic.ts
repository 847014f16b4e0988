import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Token } from '../../shared/keys/token.ts';
import { Environments } from '../model/environments.ts';
import { GOOD_NETWORK, VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { Random } from '../support/random.ts';

export const START = Date.UTC(2025, 5, 15, 12, 34);

export interface Sender {
  /** Its requests come with these in turn. */
  readonly tokens: readonly Token[];
  readonly perSecond: number;
  /** Requests that it sends concurrently each time, with one token: 1 by default. */
  readonly concurrent?: number;
}

export interface Served {
  admitted: number;
  /** 503: not counted. */
  unavailable: number;
  /** Milliseconds to each response. */
  readonly times: number[];
}

interface Settings {
  readonly environments: number;
  /** Writes a second that one item takes; beyond them DynamoDB throttles. */
  readonly writesPerSecond: number;
  /** Whether all keys together take no more writes than that. */
  readonly isOnePartition: boolean;
  readonly seconds: number;
  /** Of the random latencies: 1 by default. */
  readonly seed?: number | undefined;
}

export interface Outcome {
  readonly served: readonly Served[];
  /** Writes that DynamoDB carried out, those whose condition was false included; not those that it throttled. */
  readonly writes: number;
  /** Execution environments that had a request at the same time. */
  readonly maxBusy: number;
}

/** Requests in virtual time, over execution environments that have one request at a time each. */
export async function serve(
  keys: readonly KeyRecord[],
  senders: readonly Sender[],
  { environments: count, writesPerSecond, isOnePartition, seconds, seed = 1 }: Settings,
): Promise<Outcome> {
  const random = new Random(seed);
  const time = new VirtualTime(START, random);
  let writes = 0;
  const onExecuted = (): void => void (writes += 1);
  const network = GOOD_NETWORK;
  const database = new VirtualDynamoDB({ time, random, network, writesPerSecond, isOnePartition, onExecuted });
  for (const key of keys) database.table.put(marshall(key), START);
  const limiters = Array.from({ length: count }, () => new Limiter(database.client, 'keys'));
  const environments = new Environments(time, random, count);

  const start = ({ tokens, perSecond, concurrent = 1 }: Sender): Served => {
    const served: Served = { admitted: 0, unavailable: 0, times: [] };
    const send = (token: Token | undefined): Promise<void> => {
      const sentAt = time.now;
      // Lambda gives a request to the environment used last.
      return environments.invoke(true, async ({ index, caller }) => {
        const admit = () => token && limiters[index]?.admit(token, Math.floor(time.now));
        const verdict = await database.as(caller, 'authorizer', admit)?.catch(() => undefined);
        served.times.push(time.now - sentAt);
        if (verdict?.kind === 'admitted') served.admitted += 1;
        if (!verdict) served.unavailable += 1;
        // What a function does besides asking the table.
        await time.sleep(1 + random.next() * 2);
      });
    };
    const sendFrom = (sent: number): void => {
      if (sent >= perSecond * seconds) return;
      time.at(START + (sent * 1_000) / perSecond, () => {
        for (let left = concurrent; left > 0; left--) void send(tokens[sent % tokens.length]);
        sendFrom(sent + 1);
      });
    };
    sendFrom(0);
    return served;
  };
  const served = senders.map(start);
  await time.run();
  return { served, writes, maxBusy: environments.maxBusy };
}
