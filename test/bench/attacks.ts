import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { generateToken, type Token } from '../../shared/keys/token.ts';
import { Environments } from '../model/environments.ts';
import { GOOD_NETWORK, VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { Random } from '../support/random.ts';
import { aKey, parsed, tokenOf } from '../support/tables.ts';
import { atMost, exactly, type Figure, progress, report } from './figure.ts';

const TABLE = 'keys';
const START = Date.UTC(2025, 5, 15, 12, 34);
const SECONDS = 20;
/** What the firewall lets one address send. */
const ATTACKS_PER_SECOND = 1_200;
const GOOD_PER_SECOND = 20;
const GOOD_KEYS = 20;
const WRITES_PER_SECOND = 1_000;
/** With a token of a key that has ended, beside the good token of its owner. */
const ENDED_PER_SECOND = 2_000;
const OWNER_PER_SECOND = 50;
/** More than an account has: how many an attack takes is what is measured. */
const ENVIRONMENTS = 4_000;

/** Sends requests with these tokens in turn. */
interface Sender {
  readonly tokens: readonly Token[];
  readonly perSecond: number;
}

interface Attack {
  /** The keys in the table. */
  readonly keys: readonly KeyRecord[];
  readonly attacker?: Sender;
  readonly good: Sender;
}

interface Attacked {
  /** Execution environments that had a request at the same time. */
  readonly mostBusy: number;
  readonly writes: number;
  /** 99 % of the good requests were answered in so many milliseconds. */
  readonly p99: number;
  /** Good requests that were not admitted. */
  readonly failed: number;
}

const MINUTE = Math.floor(START / 60_000);
/** Those that are revoked, disabled or expired are remembered as the unknown one is. */
const attacks: Readonly<Record<string, Partial<KeyRecord> | undefined>> = {
  unknown: undefined,
  suspended: { suspendedUntil: START + 300_000, currentMinute: MINUTE - 1 },
};

/** What one key that is refused, or a token of a good one that has ended, does to others. In virtual time. */
export async function benchAttacks(): Promise<Figure[]> {
  return [...(await refusedKeys()), ...(await endedToken())];
}

/**
 * One key that is refused is sent 1,200 times a second, while other customers, whose keys are on the same partition of
 * the table, send 20 requests a second. The partition takes 1,000 writes a second.
 */
async function refusedKeys(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, state] of Object.entries(attacks)) {
    const what = `${label(ATTACKS_PER_SECOND)} requests a second with one ${name} key`;
    progress(what);
    const refused = aKey(state);
    const good = Array.from({ length: GOOD_KEYS }, () => aKey({ perMinute: 1_000, perDay: 100_000 }));
    const { mostBusy, writes, p99, failed } = await attack({
      keys: state ? [refused, ...good] : good,
      attacker: { tokens: [tokenOf(refused)], perSecond: ATTACKS_PER_SECOND },
      good: { tokens: good.map(tokenOf), perSecond: GOOD_PER_SECOND },
    });
    figures.push(
      atMost(`${what}: authorizers at once`, mostBusy, 50),
      exactly(`${what}: other customers answered with 503`, failed, 0),
      report(`${what}: p99 of other customers`, p99, ' ms'),
      report(`${what}: writes in ${SECONDS} s`, writes),
    );
  }
  return figures;
}

/** A token that has ended floods its key, whose owner goes on with another one. */
async function endedToken(): Promise<Figure[]> {
  const what = `${label(ENDED_PER_SECOND)} requests a second with an ended token of a key`;
  progress(what);
  const key = aKey({ perMinute: 6_000, perDay: 1_000_000 });
  const ended = parsed(generateToken(key.recordId));
  const good = { tokens: [tokenOf(key)], perSecond: OWNER_PER_SECOND };
  const alone = await attack({ keys: [key], good });
  const beside = await attack({ keys: [key], good, attacker: { tokens: [ended], perSecond: ENDED_PER_SECOND } });
  const moreWrites = (beside.writes - alone.writes) / beside.mostBusy / SECONDS;
  return [
    atMost(`${what}: p99 of its owner ÷ without it`, beside.p99 / alone.p99, 1.2),
    exactly(`${what}: requests of its owner not admitted`, beside.failed, 0),
    atMost(`${what}: more writes a second of one environment`, moreWrites, 2),
    atMost(`${what}: authorizers at once`, beside.mostBusy, 50),
  ];
}

const label = (count: number): string => count.toLocaleString('en');

async function attack({ keys, attacker, good }: Attack): Promise<Attacked> {
  const random = new Random(1);
  const time = new VirtualTime(START, random);
  let writes = 0;
  const onExecuted = (): void => void (writes += 1);
  const settings = { time, random, network: GOOD_NETWORK, writesPerSecond: WRITES_PER_SECOND, isOnePartition: true };
  const database = new VirtualDynamoDB({ ...settings, onExecuted });
  database.tables.createTable(TABLE, 'recordId');
  for (const key of keys) database.tables.put(TABLE, marshall(key), START);
  const environments = new Environments(time, random, ENVIRONMENTS);
  const limiters = Array.from({ length: ENVIRONMENTS }, () => new Limiter(database.client, TABLE));
  const times: number[] = [];
  let failed = 0;
  const send = (token: Token, isGood: boolean): Promise<void> => {
    const sentAt = time.now;
    return environments.invoke(true, async ({ index, caller }) => {
      const admit = () => limiters[index]?.admit(token, Math.floor(sentAt));
      const verdict = await database.as(caller, 'authorizer', admit)?.catch(() => undefined);
      if (isGood) times.push(time.now - sentAt);
      if (isGood && verdict?.kind !== 'admitted') failed += 1;
      // What a function does besides asking the table.
      await time.sleep(1 + random.next() * 2);
    });
  };
  const sendSteadily = ({ tokens, perSecond }: Sender, isGood: boolean, index = 0): void => {
    const token = tokens[index % tokens.length];
    if (!token || index === perSecond * SECONDS) return;
    time.at(START + (index * 1_000) / perSecond, () => {
      void send(token, isGood);
      sendSteadily({ tokens, perSecond }, isGood, index + 1);
    });
  };
  if (attacker) sendSteadily(attacker, false);
  sendSteadily(good, true);
  await time.run();
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
  return { mostBusy: environments.mostBusy, writes, p99, failed };
}
