import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { generateToken, type Token } from '../../shared/keys/token.ts';
import { MAX_PER_DAY, MAX_PER_MINUTE } from '../../shared/keys/plans.ts';
import { aKey, parsed, tokenOf } from '../support/tables.ts';
import { atMost, type Figure, p99, progress, report, type Size } from './figure.ts';
import { type Sender, serve, START } from './traffic.ts';

const SECONDS = { whole: 20, small: 1 };
/** Schedules of a throttled key: what it does to its neighbors depends on the order in which few writes arrive. */
const SEEDS = { whole: [1, 2, 3], small: [1] };
const MINUTE = Math.floor(START / 60_000);

interface Attack {
  readonly what: string;
  readonly keys: readonly KeyRecord[];
  readonly attacker: Sender;
  readonly good: Sender;
  /** Whether all keys share what one partition takes. DynamoDB gives an item that stays hot its own partition. */
  readonly isOnePartition: boolean;
  /** Whether the attacker's requests are admitted, each by a write, as far as its item takes them. */
  readonly isAdmitted?: boolean;
  readonly seed?: number;
}

const sending = (perSecond: number, tokens: readonly Token[]): Sender => ({ tokens, perSecond });

/** One key is sent as often as the firewall lets one address send, beside the keys of other customers. */
function besideOthers(what: string, attacked: KeyRecord, isKnown = true): Attack {
  const good = Array.from({ length: 20 }, () => aKey({ perMinute: 1_000, perDay: 100_000 }));
  return {
    what: `1,200 requests per second with one ${what}`,
    keys: isKnown ? [attacked, ...good] : good,
    attacker: sending(1_200, [tokenOf(attacked)]),
    good: sending(20, good.map(tokenOf)),
    isOnePartition: true,
  };
}

const largestKey = (): KeyRecord => aKey({ perMinute: MAX_PER_MINUTE, perDay: MAX_PER_DAY, currentMinute: MINUTE });

/** A valid key is sent more often than the write throughput of its item, within its limit. */
const throttledKey = (place: string, isOnePartition: boolean, seed = 1): Attack => ({
  ...besideOthers(`throttled valid key, ${place} partition, seed ${seed}`, largestKey()),
  isOnePartition,
  isAdmitted: true,
  seed,
});

/** A token that has ended floods its key, whose owner goes on with another one. */
function endedToken(): Attack {
  const key = aKey({ perMinute: 6_000, perDay: 1_000_000 });
  return {
    what: '2,000 requests per second with a revoked token',
    keys: [key],
    attacker: sending(2_000, [parsed(generateToken(key.recordId))]),
    good: sending(50, [tokenOf(key)]),
    isOnePartition: true,
  };
}

const suspended = { suspendedUntil: START + 300_000, currentMinute: MINUTE - 1 };
const exhausted = { perMinute: 1_000_000, perDay: 1_000, dayUsed: 1_000, currentMinute: MINUTE };

/**
 * What one key that is refused, or a token of a good one that has ended, does to others, whose keys are on the same
 * partition of the table. In virtual time.
 */
export async function benchAttacks(size: Size): Promise<Figure[]> {
  const seconds = SECONDS[size];
  const alone = await figuresOf(throttledKey('own', false), seconds);
  const figures: Figure[] = [];
  for (const seed of SEEDS[size]) {
    const attack = throttledKey('shared', true, seed);
    figures.push(...(await figuresOf(attack, seconds)), ...(await figuresOfBurst(attack, seconds)));
  }
  // Revoked, disabled and expired keys are cached like the unknown one.
  for (const attack of [
    besideOthers('unknown key', aKey(), false),
    besideOthers('suspended key', aKey(suspended)),
    besideOthers('exhausted key', aKey(exhausted)),
    endedToken(),
  ])
    figures.push(...(await figuresOf(attack, seconds)));
  return [...alone, ...figures];
}

// More environments than an account has: how many an attack takes is what is measured.
const settings = { environments: 4_000, writesPerSecond: 1_000 };

async function figuresOf(attack: Attack, seconds: number): Promise<Figure[]> {
  const { what, keys, attacker, good, isOnePartition, isAdmitted = false, seed } = attack;
  const all = { ...settings, isOnePartition, seconds, seed };
  progress(what);
  const without = await serve(keys, [good], all);
  if (without.served[0]?.admitted !== good.perSecond * seconds)
    throw new Error(`${what}: not all is admitted without it`);
  const { served, writes, maxBusy } = await serve(keys, [good, attacker], all);
  const [others, own] = served;
  const ratio = p99(others?.times ?? []) / p99(without.served[0].times);
  return [
    atMost(`${what}: concurrent authorizers`, maxBusy, 50),
    atMost(`${what}: valid requests not admitted`, good.perSecond * seconds - (others?.admitted ?? 0), 0),
    atMost(`${what}: p99 of valid requests ÷ without the attack`, ratio, 1.2),
    isAdmitted
      ? report(`${what}: its own requests admitted per second`, (own?.admitted ?? NaN) / seconds)
      : atMost(
          `${what}: additional writes per second per environment`,
          (writes - without.writes) / maxBusy / seconds,
          2,
        ),
  ];
}

/** Another key sends a minute's requests concurrently, each second another one, beside a throttled key. */
async function figuresOfBurst(attack: Attack, seconds: number): Promise<Figure[]> {
  const { what, keys, attacker, isOnePartition, seed } = attack;
  const others = Array.from({ length: seconds }, () => aKey({ perMinute: 60 }));
  const burst = { ...sending(1, others.map(tokenOf)), concurrent: 60 };
  const all = { ...settings, isOnePartition, seconds, seed };
  const { served } = await serve([...keys, ...others], [attacker, burst], all);
  const { admitted, unavailable, times } = served[1] ?? { admitted: NaN, unavailable: NaN, times: [] };
  const ofBurst = `${what}: 60 concurrent requests of another key`;
  return [
    atMost(`${ofBurst}, refused or suspended`, times.length - admitted - unavailable, 0),
    report(`${ofBurst}, 503`, (100 * unavailable) / times.length, ' %'),
  ];
}
