import { type KeyRecord, NEVER, type TokenRecord } from '../keys/key-record.ts';
import { hashToken } from '../keys/token.ts';

/** The tokens that a key may have, beside those that work on for a while after they were rotated. */
export const MAX_TOKENS = 4;
/** Those too: one token of a key is rotated at a time. */
export const MAX_TOKENS_WITH_GRACE = 5;

/** With all tokens, the longest name and labels, an item is below 1,024 bytes: a request counts with one write unit. */
export const MAX_NAME_BYTES = 100;
export const MAX_LABEL_BYTES = 12;

/** The label of a key's first token. */
export const MAIN_LABEL = 'main';

// Changes of a key's tokens, as pure functions of its record. Each is then one conditional write.

export type Tokens = KeyRecord['tokens'];

/** A token and what the record has of it. */
export interface NamedToken extends TokenRecord {
  readonly hash: string;
}

/** What is decided about a new token. */
export interface AddTokenParams {
  readonly access?: TokenRecord['access'] | undefined;
  readonly label?: string;
  /** Unix milliseconds. */
  readonly until?: number | undefined;
  /** Until it has been shown, the next command with its label replaces it. */
  readonly pending?: boolean;
}

/** Enough to know a token again that one has, and not to guess it: they are of its checksum. */
export const lastCharacters = (token: string): string => token.slice(-4);

/** The entry of a token in its key's record. @param now Unix milliseconds */
export function tokenEntry(
  token: string,
  { access = 'full', label = MAIN_LABEL, until = NEVER, pending = false }: AddTokenParams,
  now: number,
): Tokens {
  const entry = { until, access, label, last: lastCharacters(token), since: now };
  return { [hashToken(token)]: pending ? { ...entry, pending } : entry };
}

/** The tokens that work, the oldest first. */
export function workingTokens({ tokens }: Pick<KeyRecord, 'tokens'>, now: number): NamedToken[] {
  return Object.entries(tokens)
    .filter(([, { until }]) => until > now)
    .map(([hash, token]) => Object.assign({ hash }, token))
    .toSorted((one, other) => one.since - other.since);
}

/** Of the tokens with a label: the one that has it, those it replaced that are still valid, one never shown. */
export function tokensLabeled(record: Pick<KeyRecord, 'tokens'>, label: string, now: number) {
  const labeled = workingTokens(record, now).filter((token) => token.label === label);
  const shown = labeled.filter(({ pending }) => !pending);
  return {
    current: shown.at(-1),
    inGrace: shown.slice(0, -1),
    pending: labeled.find((token) => token.pending),
  };
}

/** Whether a key has room for a token with a label of its own. */
export function hasRemainingQuota(record: Pick<KeyRecord, 'tokens'>, now: number): boolean {
  const labels = new Set(workingTokens(record, now).map(({ label }) => label));
  return labels.size < MAX_TOKENS;
}

/** The tokens without those that have ended, and without one that was never shown; a new one added. */
export function withToken(record: Pick<KeyRecord, 'tokens'>, entry: Tokens, now: number): Tokens {
  const [label] = Object.values(entry).map((token) => token.label);
  const kept = Object.entries(record.tokens).filter(
    ([, token]) => token.until > now && !(token.pending && token.label === label),
  );
  return { ...Object.fromEntries(kept), ...entry };
}

/** The tokens with one that is not pending any more: it has been shown. */
export function withShown(tokens: Tokens, hash: string): Tokens {
  const token = tokens[hash];
  if (!token) return tokens;
  const { pending: _, ...shown } = token;
  return { ...tokens, [hash]: shown };
}

/** An end that is over by every clock, also that of an admin which is ahead. */
export const IMMEDIATELY = 0;

/** The tokens with the ends of some brought forward to a time; none is made to last longer. */
export function withEnd(tokens: Tokens, hashes: readonly string[], end: number): Tokens {
  const ended = hashes.flatMap((hash) => {
    const token = tokens[hash];
    return token ? [[hash, { ...token, until: Math.min(token.until, end) }] as const] : [];
  });
  return { ...tokens, ...Object.fromEntries(ended) };
}
