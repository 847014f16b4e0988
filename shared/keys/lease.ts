import type { KeyRecord } from './key-record.ts';
import { rateLimitOf, type Refusal, type Verdict } from './verdict.ts';
import { isSameDay, type Minute, minuteOf } from './window.ts';

/**
 * Keys with higher limits are leased. DynamoDB takes some 1,000 writes a second to one item, so up to here even a whole
 * minute's requests within one second can be written one by one.
 */
export const LEASED_ABOVE_PER_MINUTE = 1_000;

/**
 * How long an execution environment acts on what it remembers of a leased key, in milliseconds of request time. A key
 * that is revoked, suspended or moved meanwhile is served as before until then, and no longer.
 */
export const LEASE_MS = 1_000;

/** A lease is sized for this much of the environment's own traffic, in milliseconds. */
const TARGET_MS = 500;
const MAX_GROWTH = 8;
/** No lease takes more than this share of what is left, so that the last of a window is not split among the idle. */
const SMALLEST_SHARE = 64;

/** Keys remembered at once. Beyond them the oldest is forgotten, with what was left of its lease. */
const MAX_REMEMBERED = 1_000;

/** What an earlier lease leaves behind for the next write to settle. */
export interface Settlement {
  /** The key as it was when last written; undefined for one that is not leased, or not remembered. */
  readonly key: KeyRecord | undefined;
  /** Requests that were taken from the windows of `key.currentMinute` and not used. */
  readonly unused: number;
  /** Requests refused without a write, in `key.currentMinute`. */
  readonly refused: number;
  /** Requests to take for the traffic as it was. */
  readonly wanted: number;
}

export const nothingToSettle: Settlement = { key: undefined, unused: 0, refused: 0, wanted: 1 };

interface Remembered {
  readonly key: KeyRecord;
  readonly since: number;
  readonly until: number;
  readonly wanted: number;
  /** Requests admitted under the lease, and to be admitted. */
  used: number;
  left: number;
  /** The answer to requests while nothing is left, and how many got it without a write. */
  readonly refusal: Refusal | undefined;
  refused: number;
}

/** The terms of a new lease. */
export interface Terms {
  readonly taken: number;
  /** What was asked for; the window may not have had it. */
  readonly wanted: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** Unix milliseconds at which the key ends that the request came with. */
  readonly until: number;
}

export function isLeased(key: KeyRecord): boolean {
  return key.perMinute > LEASED_ABOVE_PER_MINUTE;
}

/** Requests to take of a window that has `room`, at least 1. */
export function leaseSize(room: number, wanted: number): number {
  return Math.max(1, Math.min(wanted, Math.ceil(room / SMALLEST_SHARE)));
}

/** How many of the unused requests go back to the minute and to the day of a write. */
export function giveBack({ key, unused }: Settlement, minute: Minute): { ofMinute: number; ofDay: number } {
  if (!key) return { ofMinute: 0, ofDay: 0 };
  return {
    ofMinute: key.currentMinute === minute ? unused : 0,
    ofDay: isSameDay(key.currentMinute, minute) ? unused : 0,
  };
}

/**
 * What one execution environment remembers of leased keys: requests that it has taken from their windows and may admit
 * without a write, or that there were none to take. The windows count a request when it is taken, so all environments
 * together never admit more than the limit.
 */
export class Leases {
  readonly #remembered = new Map<string, Remembered>();

  /** The verdict from memory; undefined where the table has to be asked. */
  use(keyHash: string, now: number): Verdict | undefined {
    const lease = this.#remembered.get(keyHash);
    if (!lease || now >= lease.until || minuteOf(now) > lease.key.currentMinute) return undefined;
    if (lease.refusal) {
      // Neither does a request count as refused that is written while the key is suspended.
      if (lease.refusal.reason !== 'suspended') lease.refused += 1;
      return lease.refusal;
    }
    if (lease.left === 0) return undefined;
    lease.left -= 1;
    lease.used += 1;
    return admitted(lease);
  }

  /** Forgets the key; what it leaves behind goes into the next write. */
  end(keyHash: string, now: number): Settlement {
    const lease = this.#remembered.get(keyHash);
    if (!lease) return nothingToSettle;
    this.#remembered.delete(keyHash);
    const elapsed = Math.max(1, now - lease.since);
    const demand = Math.ceil((lease.used * TARGET_MS) / elapsed);
    const wanted = lease.refusal ? lease.wanted : Math.max(1, Math.min(demand, lease.wanted * MAX_GROWTH));
    return { key: lease.key, unused: lease.left, refused: lease.refused, wanted };
  }

  /**
   * Remembers requests taken for a leased key, the one at hand included.
   *
   * @param key as the write left it
   * @returns the verdict on the request at hand
   */
  grant(keyHash: string, key: KeyRecord, { taken, wanted, now, until }: Terms): Verdict {
    // Another request of this environment may have taken some at the same time.
    const other = this.#remembered.get(keyHash);
    const together = other?.key.currentMinute === key.currentMinute ? other : undefined;
    const lease: Remembered = {
      // The answers to both may have overtaken each other.
      key: {
        ...key,
        minuteUsed: Math.max(key.minuteUsed, together?.key.minuteUsed ?? 0),
        dayUsed: Math.max(key.dayUsed, together?.key.dayUsed ?? 0),
      },
      since: together?.since ?? now,
      until: Math.min(now + LEASE_MS, key.expiresAt ?? Infinity, until),
      wanted: Math.max(wanted, together?.wanted ?? 0),
      used: 1 + (together?.used ?? 0),
      left: taken - 1 + (together?.left ?? 0),
      refusal: undefined,
      refused: together?.refused ?? 0,
    };
    this.#remember(keyHash, lease);
    return admitted(lease);
  }

  /** Remembers that a leased key is refused for now. */
  refuse(keyHash: string, refusal: Refusal, { wanted, now, until: end }: Omit<Terms, 'taken'>): void {
    const other = this.#remembered.get(keyHash);
    if (other && other.left > 0) return;
    const { key, rateLimit } = refusal;
    const until = Math.min(now + LEASE_MS, rateLimit.resetsAt, key.expiresAt ?? Infinity, end);
    const refused = other?.key.currentMinute === key.currentMinute ? other.refused : 0;
    this.#remember(keyHash, { key, since: now, until, wanted, used: 0, left: 0, refusal, refused });
  }

  #remember(keyHash: string, lease: Remembered): void {
    this.#remembered.set(keyHash, lease);
    if (this.#remembered.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}

/** What is left of the windows, as far as this environment knows: what it holds itself, and what nobody has taken. */
function admitted({ key, left }: Remembered): Verdict {
  const counted = { ...key, minuteUsed: key.minuteUsed - left, dayUsed: key.dayUsed - left };
  return { kind: 'admitted', key: counted, rateLimit: rateLimitOf(counted) };
}
