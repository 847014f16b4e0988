import type { Tokens } from '../../../shared/key-registry/record-changes.ts';
import type { KeyRecord, TokenRecord } from '../../../shared/keys/key-record.ts';

// Changes of a key's tokens, as pure functions of its record.

/** Max tokens of a key, without rotated ones within their grace. */
export const MAX_TOKENS = 4;

export interface NamedToken extends TokenRecord {
  readonly hash: string;
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
  return { current: shown.at(-1), inGrace: shown.slice(0, -1), pending: labeled.find((token) => token.pending) };
}

/** Whether a key may have another token with a new label. */
export function mayAddToken(record: Pick<KeyRecord, 'tokens'>, now: number): boolean {
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
  const ended = Object.entries(tokens).map(([hash, token]) => {
    const until = hashes.includes(hash) ? Math.min(token.until, end) : token.until;
    return [hash, { ...token, until }] as const;
  });
  return Object.fromEntries(ended);
}
