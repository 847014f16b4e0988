import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { Environments } from '../model/environments.ts';
import { VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { CALM } from '../model/weather.ts';
import { Random } from '../support/random.ts';
import { aKey } from '../support/tables.ts';
import { atMost, exactly, type Figure, progress, report } from './figure.ts';

const TABLE = 'keys';
const START = Date.UTC(2025, 5, 15, 12, 34);
const SECONDS = 20;
/** What the firewall lets one address send. */
const ATTACKS_PER_SECOND = 1_200;
const GOOD_PER_SECOND = 20;
const GOOD_KEYS = 20;
const WRITES_PER_SECOND = 1_000;
/** More than an account has: how many an attack takes is what is measured. */
const ENVIRONMENTS = 4_000;

interface Attacked {
  /** Execution environments that had a request at the same time. */
  readonly mostBusy: number;
  readonly writes: number;
  /** Of the other customers: milliseconds of all answers, in order, and how many were 503. */
  readonly times: readonly number[];
  readonly failed: number;
}

const MINUTE = Math.floor(START / 60_000);
/** Those that are revoked, disabled or expired are remembered as the unknown one is. */
const attacks: Readonly<Record<string, Partial<KeyRecord> | undefined>> = {
  unknown: undefined,
  suspended: { suspendedUntil: START + 300_000, currentMinute: MINUTE - 1 },
};

/**
 * One key that is refused is sent 1,200 times a second, while other customers, whose keys are on the same partition of
 * the table, send 20 requests a second. The partition takes 1,000 writes a second, in virtual time.
 */
export async function benchAttacks(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, state] of Object.entries(attacks)) {
    const what = `${ATTACKS_PER_SECOND.toLocaleString('en')} requests a second with one ${name} key`;
    progress(what);
    const { mostBusy, writes, times, failed } = await attack(state);
    figures.push(
      atMost(`${what}: authorizers at once`, mostBusy, 50),
      exactly(`${what}: other customers answered with 503`, failed, 0),
      report(`${what}: p99 of other customers`, times[Math.floor(times.length * 0.99)] ?? Number.NaN, ' ms'),
      report(`${what}: writes in ${SECONDS} s`, writes),
    );
  }
  return figures;
}

async function attack(state: Partial<KeyRecord> | undefined): Promise<Attacked> {
  const random = new Random(1);
  const time = new VirtualTime(START, random);
  let writes = 0;
  const onExecuted = (): void => void (writes += 1);
  const settings = { time, random, weather: CALM, writesPerSecond: WRITES_PER_SECOND, isOnePartition: true };
  const database = new VirtualDynamoDB({ ...settings, onExecuted });
  database.tables.createTable(TABLE, 'keyHash');
  const attacker = aKey(state);
  const good = Array.from({ length: GOOD_KEYS }, () => aKey({ perMinute: 1_000, perDay: 100_000 }));
  for (const key of state ? [attacker, ...good] : good) database.tables.put(TABLE, marshall(key), START);
  const environments = new Environments(time, random, ENVIRONMENTS);
  const limiters = Array.from({ length: ENVIRONMENTS }, () => new Limiter(database.client, TABLE));
  const times: number[] = [];
  let failed = 0;
  const send = (keyHash: string, isGood: boolean): Promise<void> => {
    const sentAt = time.now;
    return environments.invoke(true, async ({ index, caller }) => {
      const admit = () => limiters[index]?.admit(keyHash, Math.floor(sentAt));
      const verdict = await database.as(caller, 'authorizer', admit)?.catch(() => undefined);
      if (isGood) times.push(time.now - sentAt);
      if (isGood && verdict?.kind !== 'admitted') failed += 1;
      // What a function does besides asking the table.
      await time.sleep(1 + random.next() * 2);
    });
  };
  const sendSteadily = (perSecond: number, hashOf: (index: number) => string, isGood: boolean): void => {
    const sendAt = (index: number): void => {
      if (index === perSecond * SECONDS) return;
      time.at(START + (index * 1_000) / perSecond, () => {
        void send(hashOf(index), isGood);
        sendAt(index + 1);
      });
    };
    sendAt(0);
  };
  sendSteadily(ATTACKS_PER_SECOND, () => attacker.keyHash, false);
  sendSteadily(GOOD_PER_SECOND, (index) => good[index % GOOD_KEYS]?.keyHash ?? '', true);
  await time.run();
  return { mostBusy: environments.mostBusy, writes, times: times.toSorted((a, b) => a - b), failed };
}
