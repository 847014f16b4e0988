import * as v from 'valibot';
import { safeNumberSchema } from '../item-attributes.ts';
import { planIds } from './plans.ts';

/** A time that never comes: the last moment that JavaScript has, in Unix milliseconds. */
export const NEVER = 8_640_000_000_000_000;

/** As an item has it; or plain, so that a record is checked before it is written too. */
const number = v.union([safeNumberSchema, v.pipe(v.number(), v.safeInteger())]);

const limit = v.pipe(number, v.minValue(1));

export const accesses = ['full', 'read'] as const;
/** `read`: read-only. */
export type Access = (typeof accesses)[number];

const tokenRecordSchema = v.object({
  /** Unix milliseconds at which it ends; {@link NEVER}: it does not. */
  until: number,
  /** An {@link Access}; one of a later release may do least, and shuts no other token of the key out. */
  access: v.string(),
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
  // A later release may write what this one must not guess the limits of.
  plan: v.picklist(planIds, ({ received }) => `This version does not know the plan ${received}`),
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
  /** Unix milliseconds of its last change that the history tells of. Absent: there was none since it is kept. */
  changedAt: v.optional(number),
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

const namesSchema = v.object({ recordId: v.string(), keyId: v.fallback(v.optional(v.string()), undefined) });

/** An item of the keys table that is no record of a key: its key is refused, and only an admin can mend it, by hand. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly recordId: string;
  readonly keyId: string | undefined;

  constructor(tableName: string, item: unknown, issues: readonly v.BaseIssue<unknown>[]) {
    const { keyId, recordId } = v.parse(namesSchema, item);
    const who = keyId ?? `with the record id ${recordId}`;
    const reasons = issues.map((issue) => {
      // The hash of a token is not for logs.
      const path = v.getDotPath(issue)?.replace(/^tokens\.[^.]+/, 'tokens.…') ?? '';
      return `${path}: ${issue.message}`;
    });
    super(`The key ${who} has a record in the table ${tableName} that is not in order: ${reasons.join('; ')}`);
    this.recordId = recordId;
    this.keyId = keyId;
  }
}

/** Reads an item of the keys table, or checks a record. @throws UnreadableRecordError: it must never admit a request */
export function parseKeyRecord(item: unknown, tableName: string): KeyRecord {
  const result = v.safeParse(keyRecordSchema, item);
  if (result.success) return result.output;
  throw new UnreadableRecordError(tableName, item, result.issues);
}

/** How an admin names a token of a key: by its label and its last four characters, such as `main/ly02`. */
export const tokenName = ({ label, last }: Pick<TokenRecord, 'label' | 'last'>): string => `${label}/${last}`;

/** What names a key in logs and commands: its id in API Gateway; until then its record's, which is no secret. */
export const idOf = ({ keyId, recordId }: Pick<KeyRecord, 'keyId' | 'recordId'>): string => keyId ?? recordId;

/** Whether the Interim plan, which refuses none, meters the requests of a key: API Gateway may not have its own yet. */
export const isInterim = ({ unappliedSince, interimUntil }: KeyRecord, now: number): boolean =>
  unappliedSince !== undefined || now < interimUntil;
