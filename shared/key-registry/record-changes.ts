import { isDeepStrictEqual } from 'node:util';
import { timeToLive } from '../item-attributes.ts';
import { type KeyRecord, type TokenRecord, NO_EXPIRY } from '../keys/key-record.ts';
import { hashToken } from '../keys/token.ts';

// Changes of a key's record as pure functions. Each becomes one conditional write.

/** The part of a record that API Gateway also has. */
export type GatewayFields = Pick<
  KeyRecord,
  'keyId' | 'name' | 'plan' | 'perMinute' | 'perDay' | 'enabled' | 'expiresAtMs'
>;

type OwnFields = Pick<
  KeyRecord,
  'tokens' | 'revoked' | 'purgeAt' | 'unappliedSince' | 'interimUntil' | 'suspendedUntil' | 'suspendedByAdmin'
>;

/** The attributes that a change may set; `undefined` removes one. Of the counters, it may only reset refusals. */
export type KeyChange = Readonly<Partial<GatewayFields & OwnFields>> & { readonly minuteRefused?: 0 };

const initialState = {
  revision: 1,
  revoked: false,
  interimUntil: 0,
  currentMinute: 0,
  minuteUsed: 0,
  dayUsed: 0,
  minuteRefused: 0,
  suspendedUntil: 0,
  suspendedByAdmin: false,
} as const satisfies Partial<KeyRecord>;

export const newRecord = (fields: Omit<KeyRecord, keyof typeof initialState> & Partial<KeyRecord>): KeyRecord => ({
  ...initialState,
  ...fields,
});

/** The part of a change that differs from a record. */
export const differences = (record: KeyRecord, change: KeyChange): KeyChange =>
  Object.fromEntries(Object.entries(change).filter(differsFrom(record)));

export const differsFrom =
  (record: Readonly<Record<string, unknown>>) =>
  ([name, value]: [string, unknown]): boolean =>
    !isDeepStrictEqual(record[name], value);

/** Revokes a key permanently. DynamoDB deletes the record later. @param now Unix milliseconds */
export function revocation(now: number) {
  return { enabled: false, revoked: true, purgeAt: timeToLive(now), unappliedSince: undefined } satisfies KeyChange;
}

/** Max tokens with those in their grace: one token of a key is rotated at a time. */
export const MAX_TOKENS_WITH_GRACE = 5;

/** With max tokens, name and labels, an item has at most 1,010 bytes: a count of up to 1,024 costs one write unit. */
export const MAX_NAME_BYTES = 48;
export const MAX_LABEL_BYTES = 8;

/** The label of a key's first token. */
export const MAIN_LABEL = 'main';

export type Tokens = KeyRecord['tokens'];

export interface AddTokenParams {
  readonly access?: TokenRecord['access'] | undefined;
  readonly label?: string;
  /** Unix milliseconds. */
  readonly until?: number | undefined;
  /** Until it was shown, the next command with its label replaces it. */
  readonly pending?: boolean;
}

/** The last four characters, part of the checksum: identify a token without helping to guess it. */
const lastCharacters = (token: string): string => token.slice(-4);

/** The entry of a token in its key's record. @param now Unix milliseconds */
export function tokenEntry(
  token: string,
  { access = 'full', label = MAIN_LABEL, until = NO_EXPIRY, pending = false }: AddTokenParams,
  now: number,
): Tokens {
  const entry = { until, access, label, last: lastCharacters(token), since: now };
  return { [hashToken(token)]: pending ? { ...entry, pending } : entry };
}
