import type { HistoryRow } from '../../../shared/key-registry/key-history.ts';
import { plans } from '../../../shared/keys/plans.ts';
import type { FoundToken, KeyView, TokenView } from './key-view.ts';
import type { NewToken } from './tokens.ts';
import { limitsText, formatTime } from '../service/text.ts';

const SUSPENDED = { admin: 'suspended by an admin', limiter: 'suspended automatically' } as const;

/** The state, and who suspended the key. */
export const shortStateText = ({ state, suspendedBy }: KeyView): string =>
  suspendedBy === null ? state : SUSPENDED[suspendedBy];

/** Also the end of a suspension. */
export const stateText = (view: KeyView): string =>
  shortStateText(view) + (view.suspendedUntil === null ? '' : ` until ${formatTime(view.suspendedUntil)}`);

/** `is active`. */
export const statePhrase = ({ state }: KeyView): string => `${state === 'no valid token' ? 'has' : 'is'} ${state}`;

/** Shown for a revoked key in place of its tokens. */
export const revokedText = ({ forgotten }: KeyView): string =>
  `All its tokens are revoked.${forgotten === null ? '' : ` The record is deleted after ${formatTime(forgotten)}.`}`;

export function tokenText({ access, until, neverShown }: TokenView): string {
  const parts = [access === 'full' ? 'full access' : 'read-only'];
  if (until !== null) parts.push(`until ${formatTime(until)}`);
  if (neverShown) parts.push('was never shown: replace it');
  return parts.join(', ');
}

export const reasonText = (reason?: string): string => (reason === undefined ? '' : ` Reason: ${reason}.`);

/** Effect of revoking a token. @returns undefined for an invalid or an only token, which the action rejects */
export function endingText({ tokens }: KeyView, name: string): string | undefined {
  const ending = tokens.find((token) => token.name === name);
  const others = tokens.filter((token) => token !== ending && !token.neverShown);
  if (!ending || others.length === 0) return undefined;
  const kept = others.map((token) => token.name + (token.until === null ? '' : ` (until ${formatTime(token.until)})`));
  return (
    `Requests with the token ${name}, valid since ${formatTime(ending.since)}, are denied permanently. ` +
    `The key keeps ${kept.join(', ')}. This cannot be undone.`
  );
}

/** Time, actor and description of a change. The actor is the last part of the ARN. */
export function historyCells({ at, who, what, reason }: HistoryRow): [at: string, who: string, what: string] {
  if (who === null) return [formatTime(at), 'unknown', 'not recorded'];
  const because = reason === null ? [] : [`because: ${reason}`];
  return [formatTime(at), who.replace(/^arn:(?:[^:]*:){4}/, ''), [...what, ...because].join('; ')];
}

export const planOfToken = (token: NewToken): string => `is on ${plans[token.plan].title}: ${limitsText(token)}.`;

export const curlWith = ({ token }: NewToken, baseUrl: string): string =>
  `curl -H 'Authorization: Bearer ${token}' ${baseUrl}/inventory`;

export function foundTokenText({ key, token }: FoundToken): string {
  const owner = `It belongs to ${key.name} (${key.id}, ${key.plan}, ${stateText(key)})`;
  if (!token) return `${owner}, but it is no longer valid, or was never issued.`;
  const refused = key.state === 'active' ? '' : ` Its requests are rejected while the key is ${stateText(key)}.`;
  return `${owner}. Its token ${token.name} is valid (${tokenText(token)}).${refused}`;
}
