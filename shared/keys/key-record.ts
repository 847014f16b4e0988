import * as v from 'valibot';
import { safeNumberSchema } from '../item-attributes.ts';
import { planIds } from './plans.ts';

/** A time that never comes: the last moment that JavaScript has, in Unix milliseconds. */
export const NEVER = 8_640_000_000_000_000;

/** As an item has it; or plain, so that a record is checked before it is written too. */
const number = v.union([safeNumberSchema, v.pipe(v.number(), v.safeInteger())]);

const limit = v.pipe(number, v.minValue(1));

export const accesses = ['full', 'read'] as const;
/** `read`: it changes nothing. */
export type Access = (typeof accesses)[number];

/** A later release may write what this one must not guess the meaning of. */
const unknownToThisVersion =
  (what: string) =>
  ({ received }: v.BaseIssue<unknown>) =>
    `This version does not know the ${what} ${received}`;

const tokenRecordSchema = v.object({
  /** Unix milliseconds at which it ends; {@link NEVER}: it does not. */
  until: number,
  access: v.picklist(accesses, unknownToThisVersion('access')),
  /** What an admin calls it. One token of a key has it, and those that it replaced while they work on. */
  label: v.string(),
  /** Its last four characters. */
  last: v.string(),
  /** Unix milliseconds at which it was made. */
  since: number,
  /** The command that made it has not shown it yet. */
  pending: v.optional(v.literal(true)),
});

/** A token as its key has it: never the token itself. */
export type TokenRecord = v.InferOutput<typeof tokenRecordSchema>;

export const keyRecordSchema = v.object({
  /** The partition key: see `Token`. */
  recordId: v.string(),
  /** The id that API Gateway gave the key; absent until it has. */
  keyId: v.optional(v.string()),
  name: v.string(),
  plan: v.picklist(planIds, unknownToThisVersion('plan')),
  perMinute: limit,
  perDay: limit,
  enabled: v.boolean(),
  /** Unix milliseconds. */
  createdAt: number,
  /** Unix milliseconds; absent: never. */
  expiresAtMs: v.optional(number),
  /** Its tokens by their hashes. */
  tokens: v.record(v.string(), tokenRecordSchema),
  /** Closed for good: nothing takes it back. The record stays for a while, so that no sync adds the key again. */
  revoked: v.boolean(),
  /** Unix seconds at which DynamoDB deletes the record of a revoked key (its time to live). */
  purgeAt: v.optional(number),
  /** Unix milliseconds since which API Gateway may not say what the record does; absent: it does. */
  unappliedSince: v.optional(number),
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
  /** Unix milliseconds; in the past: not suspended; `NEVER`: refused with 401 until it is resumed. */
  suspendedUntil: number,
  /** Whether an admin set `suspendedUntil`, rather than the limiter. */
  suspendedByAdmin: v.boolean(),
});

/** One API key: identity, plan, limits, state, tokens and the two windows' counters (one item in the keys table). */
export type KeyRecord = v.InferOutput<typeof keyRecordSchema>;

/** Reads an item of the keys table, or checks a record. Throws where it is not one: a broken record must never admit a request. */
export function parseKeyRecord(item: unknown): KeyRecord {
  return v.parse(keyRecordSchema, item);
}

/** What names a key in logs and commands: the id that API Gateway gave it; until then that of its record, which is no secret. */
export const idOf = ({ keyId, recordId }: Pick<KeyRecord, 'keyId' | 'recordId'>): string => keyId ?? recordId;

/** Whether the Interim plan, which refuses none, meters the requests of a key: API Gateway may not know its own everywhere. */
export const isInterim = ({ unappliedSince, interimUntil }: KeyRecord, now: number): boolean =>
  unappliedSince !== undefined || now < interimUntil;
