import { type KeyRecord, NO_EXPIRY, type TokenRecord } from '../keys/key-record.ts';
import { hashToken } from '../keys/token.ts';

/** Max tokens of a key, without rotated ones within their grace. */
export const MAX_TOKENS = 4;
/** Max tokens with those in their grace: one token of a key is rotated at a time. */
export const MAX_TOKENS_WITH_GRACE = 5;

/** With max tokens, name and labels, an item is below 1,024 bytes, so a count costs one write unit. */
export const MAX_NAME_BYTES = 100;
export const MAX_LABEL_BYTES = 12;

/** The label of a key's first token. */
export const MAIN_LABEL = 'main';

// Changes of a key's tokens, as pure functions of its record. Each becomes one conditional write.

export type Tokens = KeyRecord['tokens'];

/** A token and its entry in the record. */
export interface NamedToken extends TokenRecord {
  readonly hash: string;
}

/** The parameters of a new token. */
export interface AddTokenParams {
  readonly access?: TokenRecord['access'] | undefined;
  readonly label?: string;
  /** Unix milliseconds. */
  readonly until?: number | undefined;
  /** Until it was shown, the next command with its label replaces it. */
  readonly pending?: boolean;
}

/** The last four characters, part of the checksum: identify a token without helping to guess it. */
export const lastCharacters = (token: string): string => token.slice(-4);

/** The entry of a token in its key's record. @param now Unix milliseconds */
export function tokenEntry(
  token: string,
  { access = 'full', label = MAIN_LABEL, until = NO_EXPIRY, pending = false }: AddTokenParams,
  now: number,
): Tokens {
  const entry = { until, access, label, last: lastCharacters(token), since: now };
  return { [hashToken(token)]: pending ? { ...entry, pending } : entry };
}

/** The valid tokens, oldest first. */
export function workingTokens({ tokens }: Pick<KeyRecord, 'tokens'>, now: number): NamedToken[] {
  return Object.entries(tokens)
    .filter(([, { until }]) => until > now)
    .map(([hash, token]) => Object.assign({ hash }, token))
    .toSorted((one, other) => one.since - other.since);
}

/** The tokens with a label: the current one, replaced ones within their grace, one never shown. */
export function tokensLabeled(record: Pick<KeyRecord, 'tokens'>, label: string, now: number) {
  const labeled = workingTokens(record, now).filter((token) => token.label === label);
  const shown = labeled.filter(({ pending }) => !pending);
  return {
    current: shown.at(-1),
    inGrace: shown.slice(0, -1),
    pending: labeled.find((token) => token.pending),
  };
}

/** Whether a key may have another token with a new label. */
export function hasRemainingQuota(record: Pick<KeyRecord, 'tokens'>, now: number): boolean {
  const labels = new Set(workingTokens(record, now).map(({ label }) => label));
  return labels.size < MAX_TOKENS;
}

/** The tokens with a new one, without those that have ended or were never shown. */
export function withToken(record: Pick<KeyRecord, 'tokens'>, entry: Tokens, now: number): Tokens {
  const [label] = Object.values(entry).map((token) => token.label);
  const kept = Object.entries(record.tokens).filter(
    ([, token]) => token.until > now && !(token.pending && token.label === label),
  );
  return { ...Object.fromEntries(kept), ...entry };
}

/** The tokens with one marked as shown. */
export function withShown(tokens: Tokens, hash: string): Tokens {
  const token = tokens[hash];
  if (!token) return tokens;
  const { pending: _, ...shown } = token;
  return { ...tokens, [hash]: shown };
}

/** A past end by every clock, including an admin's that is ahead. */
export const IMMEDIATELY = 0;

/** The tokens with earlier ends for some; none is extended. */
export function withEnd(tokens: Tokens, hashes: readonly string[], end: number): Tokens {
  const ended = hashes.flatMap((hash) => {
    const token = tokens[hash];
    return token ? [[hash, { ...token, until: Math.min(token.until, end) }] as const] : [];
  });
  return { ...tokens, ...Object.fromEntries(ended) };
}
