import * as v from 'valibot';
import type { KeyDetails } from '../contract/records.ts';
import { safeNumberSchema } from '../item-attributes.ts';
import { planIds } from './plans.ts';

/** The latest `Date` of JavaScript, in Unix milliseconds: a time after all others. */
const MAX_TIME = 8_640_000_000_000_000;

/** The end of a key or token that does not expire. */
export const NO_EXPIRY = MAX_TIME;

/** The end of a suspension that lasts until an admin resumes the key. */
export const UNTIL_RESUMED = MAX_TIME;

/** As stored in an item, or as a plain number to check a record before a write. */
const number = v.union([safeNumberSchema, v.pipe(v.number(), v.safeInteger())]);

const limit = v.pipe(number, v.minValue(1));

/** `read`: read-only. */
export type Access = KeyDetails['access'];

const tokenRecordSchema = v.object({
  /** Expiry in Unix milliseconds; {@link NO_EXPIRY}: none. */
  until: number,
  /** An {@link Access}. An unknown one, of a later release, is read-only and does not affect other tokens. */
  access: v.string(),
  /** Label, unique within the key, except for replaced tokens within their grace. */
  label: v.string(),
  /** The token's last four characters. */
  last: v.string(),
  /** Time of creation, Unix milliseconds. */
  since: number,
  /** The command that created it has not shown it yet. */
  pending: v.optional(v.literal(true)),
});

/** A token as stored: never the token itself. */
export type TokenRecord = v.InferOutput<typeof tokenRecordSchema>;

export const keyRecordSchema = v.object({
  /** The partition key: see `Token`. */
  recordId: v.string(),
  /** The key's id in API Gateway; absent until it is assigned. */
  keyId: v.optional(v.string()),
  name: v.string(),
  // A later release may write a plan whose limits this one must not guess.
  plan: v.picklist(planIds, ({ received }) => `Unknown plan ${received}; a later version may have added it`),
  perMinute: limit,
  perDay: limit,
  enabled: v.boolean(),
  /** Unix milliseconds. */
  createdAt: number,
  /** Unix milliseconds; absent: never. */
  expiresAtMs: v.optional(number),
  /** The key's tokens by their hashes. */
  tokens: v.record(v.string(), tokenRecordSchema),
  /** Revoked permanently. The record is kept for a while, so that no sync adds the key again. */
  revoked: v.boolean(),
  /** Unix seconds at which DynamoDB deletes the record of a revoked key (its time to live). */
  purgeAt: v.optional(number),
  /** Unix milliseconds since which API Gateway and the record may differ; absent: they match. */
  unappliedSince: v.optional(number),
  /** Unix milliseconds until which the key, or its plan, may still propagate in API Gateway. */
  interimUntil: number,
  /** Unix milliseconds of its last change with a history entry; absent: none so far. */
  changedAt: v.optional(number),
  /** Number of changes of the fields above. Each such write requires the revision that it replaces. */
  revision: number,
  /** The minute of the counters; its day is the day of `dayUsed` and `dayRefused`. */
  currentMinute: number,
  minuteUsed: number,
  dayUsed: number,
  /** Requests refused in the current minute. */
  minuteRefused: number,
  /** Requests refused in the current day, at least: not those of a suspended key, and not all cached refusals. */
  dayRefused: v.optional(number),
  /** The counters of the day before the current one with requests, by its last minute with one. */
  priorMinute: v.optional(number),
  priorUsed: v.optional(number),
  priorRefused: v.optional(number),
  /** Unix milliseconds; in the past: not suspended; `UNTIL_RESUMED`: denied with 401 until resumed. */
  suspendedUntil: number,
  /** Whether an admin set `suspendedUntil`, rather than the limiter. */
  suspendedByAdmin: v.boolean(),
});

/** One API key: identity, plan, limits, state, tokens and the two windows' counters (one item in the keys table). */
export type KeyRecord = v.InferOutput<typeof keyRecordSchema>;

const namesSchema = v.object({ recordId: v.string(), keyId: v.fallback(v.optional(v.string()), undefined) });

/** An invalid item of the keys table. Requests fail until an admin fixes the item manually. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly recordId: string;
  readonly keyId: string | undefined;

  constructor(tableName: string, item: unknown, issues: readonly v.BaseIssue<unknown>[]) {
    const { keyId, recordId } = v.parse(namesSchema, item);
    const who = keyId ?? `with the record id ${recordId}`;
    const reasons = issues.map((issue) => {
      // Token hashes must not be logged.
      const path = v.getDotPath(issue)?.replace(/^tokens\.[^.]+/, 'tokens.…') ?? '';
      return `${path}: ${issue.message}`;
    });
    super(`The key ${who} has an invalid record in the table ${tableName}: ${reasons.join('; ')}`);
    this.recordId = recordId;
    this.keyId = keyId;
  }
}

/** Reads an item of the keys table, or checks a record. @throws UnreadableRecordError: no request may be admitted */
export function parseKeyRecord(item: unknown, tableName: string): KeyRecord {
  const result = v.safeParse(keyRecordSchema, item);
  if (result.success) return result.output;
  throw new UnreadableRecordError(tableName, item, result.issues);
}

/** The name of a token for admins: its label and last four characters, such as `main/ly02`. */
export const tokenName = ({ label, last }: Pick<TokenRecord, 'label' | 'last'>): string => `${label}/${last}`;

/** A key's id in logs and commands: its id in API Gateway; until assigned, its record id (not secret). */
export const idOf = ({ keyId, recordId }: Pick<KeyRecord, 'keyId' | 'recordId'>): string => keyId ?? recordId;

/** Whether a key's requests are metered on the Interim plan, as its own plan may still propagate in API Gateway. */
export const isInterim = ({ unappliedSince, interimUntil }: KeyRecord, now: number): boolean =>
  unappliedSince !== undefined || now < interimUntil;
