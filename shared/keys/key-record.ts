import * as v from 'valibot';
import { safeNumberSchema as number } from '../dynamodb.ts';
import { planIds } from './plans.ts';

const limit = v.pipe(number, v.minValue(1));
const numberOrZero = v.optional(number, { value: '0' });

const keyRecordSchema = v.object({
  /** SHA-256 of the key, 64 hex digits: the partition key. */
  keyHash: v.string(),
  /** The id that API Gateway gave the key. */
  keyId: v.string(),
  name: v.string(),
  plan: v.picklist(planIds),
  perMinute: limit,
  perDay: limit,
  enabled: v.boolean(),
  /** Unix milliseconds. */
  createdAt: numberOrZero,
  /** Unix milliseconds; absent: never. */
  expiresAt: v.optional(number),
  /** Hash of the key that this one was rotated to, which counts for both. */
  replacedBy: v.optional(v.string()),
  /** Deleted for good. The record stays for a while, so that nobody who saw the key before adds it again. */
  revoked: v.optional(v.boolean(), false),
  /** What API Gateway knows the key by: the hash of a key we issued, the plain token of one made in the console. */
  usageIdentifier: v.picklist(['hash', 'token']),
  /** Unix milliseconds until which API Gateway may not know the key, or its plan, everywhere. */
  interimUntil: numberOrZero,
  /** Changes of the above so far. Whoever writes them says which revision is being replaced. */
  revision: numberOrZero,
  /** The window that the counters belong to; its day is the day of `dayUsed`. */
  currentMinute: number,
  minuteUsed: number,
  dayUsed: number,
  /** Requests refused in the current minute. */
  minuteRefused: number,
  /** Unix milliseconds; in the past: not suspended. */
  suspendedUntil: number,
  /** Whether an admin set `suspendedUntil`, rather than the limiter. */
  suspendedByAdmin: v.optional(v.boolean(), false),
});

/** One API key: identity, plan, limits, state and the two windows' counters (one item in the keys table). */
export type KeyRecord = v.InferOutput<typeof keyRecordSchema>;

/** The part of a record that requests change. */
export const unusedCounters = {
  currentMinute: 0,
  minuteUsed: 0,
  dayUsed: 0,
  minuteRefused: 0,
  suspendedUntil: 0,
  suspendedByAdmin: false,
} as const satisfies Partial<KeyRecord>;

export type KeyCounters = Pick<KeyRecord, keyof typeof unusedCounters>;

/** What is decided when a key is issued or changed; the counters start at zero. */
export type KeyIdentity = Omit<KeyRecord, keyof KeyCounters | 'revision' | 'interimUntil' | 'revoked'>;

/** Reads an item of the keys table. Throws where it is not one: a broken record must never admit a request. */
export function parseKeyRecord(item: unknown): KeyRecord {
  return v.parse(keyRecordSchema, item);
}
