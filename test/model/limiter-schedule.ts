import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Token } from '../../shared/keys/token.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import { Random } from '../support/random.ts';
import { aKey } from '../support/tables.ts';
import { Environments, type Invocation } from './environments.ts';
import { KeyAdmin } from './key-admin.ts';
import { GOOD_NETWORK, randomNetwork, VirtualDynamoDB } from './virtual-dynamodb.ts';
import type { Commit } from './virtual-table.ts';
import { VirtualTime } from './virtual-time.ts';

export interface LimiterRequest extends Invocation<Verdict> {
  readonly token: Token;
  /** Of its commits. */
  readonly writer: string;
  /** `requestTimeEpoch`: the time that API Gateway gives the request. */
  readonly epoch: number;
}

export interface LimiterHistory {
  readonly requests: readonly LimiterRequest[];
  readonly commits: readonly Commit[];
}

const UNKNOWN: Token = { recordId: '0'.repeat(64), hash: 'unknown', usageIdentifier: '' };
const DAY_END = Date.UTC(2026, 10, 22);
/** The clock of an API Gateway host is ahead by this at most, in milliseconds. */
export const MAX_AHEAD_MS = 300;
/** A request reaches the authorizer this much later than API Gateway, at most. */
const LATEST_MS = 90_000;

/** Many execution environments that count requests in one table, as a seed has it. */
export async function runLimiter(seed: number): Promise<LimiterHistory> {
  const random = new Random(seed);
  const time = new VirtualTime(DAY_END - random.pick([61_000, 119_000, 3_600_000]) - random.below(60_000), random);
  const network = random.isLikely(0.4) ? GOOD_NETWORK : randomNetwork(random);
  const writesPerSecond = random.pick([Infinity, Infinity, 1_000, 100]);
  // Between two writes of one request too.
  const onExecuted = (): void => {
    if (random.isLikely(0.1)) time.at(time.now + random.below(5), () => admin.act(random));
  };
  const database = new VirtualDynamoDB({ time, random, network, writesPerSecond, onExecuted });
  const { table, client } = database;
  const keys = Array.from({ length: 3 }, () => someKey(random, time.now));
  const admin = new KeyAdmin(table, keys, time.now);
  const count = 1 + random.below(6);
  const environments = new Environments(time, random, count);
  const limiters = Array.from({ length: count }, () => new Limiter(client, 'keys'));
  const requests: LimiterRequest[] = [];

  const send = (presented: Token, isRecent: boolean): Promise<void> =>
    environments.invoke<Verdict>(isRecent, async ({ index, caller }, invocation) => {
      const issued = random.isLikely(0.5) ? admin.newestBeside(presented) : presented;
      const token = random.isLikely(0.03) ? { ...issued, hash: 'wrong' } : issued;
      const ahead = random.isLikely(0.1) ? random.below(MAX_AHEAD_MS) : 0;
      const late = random.below(random.isLikely(0.03) ? LATEST_MS : 20);
      const epoch = Math.floor(time.now + ahead - late);
      const writer = `request ${requests.length}`;
      requests.push(Object.assign(invocation, { token, epoch, writer }));
      const limiter = limiters[index];
      if (!limiter) throw new Error('There is no such environment');
      return database.as(caller, writer, () => limiter.admit(token, epoch));
    });
  let at = time.now;
  for (let bursts = 2 + random.below(4); bursts > 0; bursts--) {
    const start = at;
    const gap = random.pick([1, 5, 40, 300]);
    const isRecent = random.isLikely(0.5);
    let tokens: readonly Token[] = [];
    time.at(start, () => (tokens = admin.someTokens(random)));
    for (let left = 5 + random.below(40); left > 0; left--) {
      time.at(at, () => void send(random.isLikely(0.02) ? UNKNOWN : random.pick(tokens), isRecent));
      at += random.next() * 2 * gap;
    }
    const actsAt = start + random.next() * (at - start);
    for (let acts = random.isLikely(0.5) ? 1 + random.below(3) : 0; acts > 0; acts--)
      time.at(actsAt + random.below(300), () => admin.act(random));
    const toNextMinute = 60_000 - (at % 60_000);
    at += random.pick([0, 100, 1_100, 10_000, toNextMinute, toNextMinute, 301_000]);
  }
  await time.run();
  return { requests, commits: table.commits };
}

function someKey(random: Random, now: number): KeyRecord {
  const perMinute = 1 + random.below(random.pick([4, 12, 40]));
  const perDay = random.isLikely(0.3) ? 1 + random.below(perMinute * 2) : perMinute * (2 + random.below(50));
  const recordId = `petstoreinventory${random.next().toString(16).slice(2).padEnd(16, '0').slice(0, 16)}`;
  const ends = random.isLikely(0.2) && { expiresAtMs: now + random.below(100_000) };
  return aKey({ recordId, keyId: recordId.slice(-16, -8), ...ends, perMinute, perDay });
}
