import * as v from 'valibot';
import { safeNumberSchema } from '../dynamodb.ts';
import { planIds } from './plans.ts';

/**
 * How many rotations a request is followed through: a key may be rotated again before the last grace has ended. Records
 * in a circle lead nowhere.
 */
export const MAX_SUCCESSORS = 5;

/** As an item has it; or plain, so that a record is checked before it is written too. */
const number = v.union([safeNumberSchema, v.pipe(v.number(), v.safeInteger())]);

const limit = v.pipe(number, v.minValue(1));

const keyRecordSchema = v.object({
  /** SHA-256 of the key, 64 hex digits: the partition key. */
  keyHash: v.string(),
  /** The id that API Gateway gave the key. */
  keyId: v.string(),
  /** Id that a key and those it was rotated to have in common: the `keyId` of the first. */
  lineage: v.string(),
  name: v.string(),
  plan: v.picklist(planIds),
  perMinute: limit,
  perDay: limit,
  enabled: v.boolean(),
  /** Unix milliseconds. */
  createdAt: number,
  /** Unix milliseconds; absent: never. */
  expiresAt: v.optional(number),
  /** Hash of the key that this one was rotated to, which counts for both. */
  replacedBy: v.optional(v.string()),
  /** Closed for good: nothing takes it back. The record stays for a while, so that nobody who saw the key before adds it again. */
  revoked: v.boolean(),
  /** Unix seconds at which DynamoDB deletes the record of a revoked key (its time to live). */
  purgeAt: v.optional(number),
  /** What API Gateway knows the key by: the hash of a key we issued, the plain token of one made in the console. */
  usageIdentifier: v.picklist(['hash', 'token']),
  /** Unix milliseconds until which API Gateway may not know the key, or its plan, everywhere. */
  interimUntil: number,
  /** Changes of the above so far. Whoever writes them says which revision is being replaced. */
  revision: number,
  /** The window that the counters belong to; its day is the day of `dayUsed`. */
  currentMinute: number,
  minuteUsed: number,
  dayUsed: number,
  /** Requests refused in the current minute. */
  minuteRefused: number,
  /** Unix milliseconds; in the past: not suspended; `UNTIL_RESUMED`: refused with 401 until it is resumed. */
  suspendedUntil: number,
  /** Whether an admin set `suspendedUntil`, rather than the limiter. */
  suspendedByAdmin: v.boolean(),
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
export type KeyIdentity = Omit<KeyRecord, keyof KeyCounters | 'revision' | 'interimUntil' | 'revoked' | 'purgeAt'>;

/** Reads an item of the keys table, or checks a record. Throws where it is not one: a broken record must never admit a request. */
export function parseKeyRecord(item: unknown): KeyRecord {
  return v.parse(keyRecordSchema, item);
}
