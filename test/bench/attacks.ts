import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { generateToken, type Token } from '../../shared/keys/token.ts';
import { MOST_PER_DAY, MOST_PER_MINUTE } from '../../shared/keys/plans.ts';
import { aKey, parsed, tokenOf } from '../support/tables.ts';
import { atMost, exactly, type Figure, p99, progress, report } from './figure.ts';
import { type Sender, serve, START } from './traffic.ts';

const SECONDS = 20;
/** More environments than an account has: how many an attack takes is what is measured. */
const SETTINGS = { environments: 4_000, writesPerSecond: 1_000 };
const MINUTE = Math.floor(START / 60_000);

interface Attack {
  readonly what: string;
  /** The keys in the table. */
  readonly keys: readonly KeyRecord[];
  readonly attacker: Sender;
  readonly good: Sender;
  /** Whether all keys share what one partition takes. DynamoDB gives an item that stays hot its own partition. */
  readonly isOnePartition: boolean;
}

const sending = (perSecond: number, tokens: readonly Token[]): Sender => ({
  tokens,
  requests: perSecond * SECONDS,
  perSecond,
});

/** A key that is refused is sent as often as the firewall lets one address send, beside the keys of other customers. */
function refusedKey(what: string, state: Partial<KeyRecord> | undefined): Attack {
  const refused = aKey(state);
  const good = Array.from({ length: 20 }, () => aKey({ perMinute: 1_000, perDay: 100_000 }));
  return {
    what: `1,200 requests a second with one ${what} key`,
    keys: state ? [refused, ...good] : good,
    attacker: sending(1_200, [tokenOf(refused)]),
    good: sending(20, good.map(tokenOf)),
    isOnePartition: true,
  };
}

/** A good key is sent more often than its item takes writes, as far as its limit goes. */
function throttledKey(isOnePartition: boolean): Attack {
  const key = aKey({ perMinute: MOST_PER_MINUTE, perDay: MOST_PER_DAY, currentMinute: MINUTE });
  const good = Array.from({ length: 20 }, () => aKey({ perMinute: 1_000, perDay: 100_000 }));
  return {
    what: `1,200 requests a second with one good key that is throttled, ${isOnePartition ? 'on the partition of all' : 'its item alone'}`,
    keys: [key, ...good],
    attacker: sending(1_200, [tokenOf(key)]),
    good: sending(20, good.map(tokenOf)),
    isOnePartition,
  };
}

/** A token that has ended floods its key, whose owner goes on with another one. */
function endedToken(): Attack {
  const key = aKey({ perMinute: 6_000, perDay: 1_000_000 });
  return {
    what: '2,000 requests a second with an ended token of a key',
    keys: [key],
    attacker: sending(2_000, [parsed(generateToken(key.recordId))]),
    good: sending(50, [tokenOf(key)]),
    isOnePartition: true,
  };
}

/**
 * What one key that is refused, or a token of a good one that has ended, does to others, whose keys are on the same
 * partition of the table. In virtual time.
 */
export async function benchAttacks(): Promise<Figure[]> {
  const figures: Figure[] = [];
  // Those that are revoked, disabled or expired are remembered as the unknown one is.
  for (const { what, keys, attacker, good, isOnePartition } of [
    refusedKey('unknown', undefined),
    refusedKey('suspended', { suspendedUntil: START + 300_000, currentMinute: MINUTE - 1 }),
    refusedKey('used up', { perMinute: 1_000_000, perDay: 1_000, dayUsed: 1_000, currentMinute: MINUTE }),
    throttledKey(false),
    throttledKey(true),
    endedToken(),
  ]) {
    progress(what);
    const settings = { ...SETTINGS, isOnePartition };
    const alone = await serve(keys, [good], settings);
    const beside = await serve(keys, [good, attacker], settings);
    const ratio = p99(beside.served[0]?.times ?? []) / p99(alone.served[0]?.times ?? []);
    const moreWrites = (beside.writes - alone.writes) / beside.mostBusy / SECONDS;
    figures.push(
      atMost(`${what}: authorizers at once`, beside.mostBusy, 50),
      exactly(`${what}: good requests not admitted`, good.requests - (beside.served[0]?.admitted ?? 0), 0),
      atMost(`${what}: p99 of good requests ÷ without it`, ratio, 1.2),
      isOnePartition
        ? atMost(`${what}: more writes a second of one environment`, moreWrites, 2)
        : report(`${what}: more writes a second of one environment`, moreWrites),
    );
  }
  return figures;
}
