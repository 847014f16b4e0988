import type { HistoryRow } from '../../shared/key-registry/key-history.ts';
import { plans } from '../../shared/keys/plans.ts';
import type { FoundToken, KeyView, TokenView } from './keys/key-view.ts';
import type { NewToken } from './keys/new-token.ts';
import { limitsText, formatTime } from './text-format.ts';

export function stateText({ state, suspendedUntil }: KeyView): string {
  return suspendedUntil === null ? state : `${state} until ${formatTime(suspendedUntil)}`;
}

/** What a revoked key has instead of tokens. */
export const revokedText = ({ forgotten }: KeyView): string =>
  `All its tokens are ended.${forgotten === null ? '' : ` The key is forgotten after ${formatTime(forgotten)}.`}`;

/** What a token may do, and until when. */
export function tokenText({ access, until, neverShown }: TokenView): string {
  const parts = [access === 'full' ? 'reads and changes' : 'reads only'];
  if (until !== null) parts.push(`until ${formatTime(until)}`);
  if (neverShown) parts.push('was never shown: make it again');
  return parts.join(', ');
}

/** What the end of a token comes to. @returns undefined where it does not work, or is the only one: that is refused */
export function endingText({ tokens }: KeyView, name: string): string | undefined {
  const ending = tokens.find((token) => token.name === name);
  const others = tokens.filter((token) => token !== ending && !token.neverShown);
  if (!ending || others.length === 0) return undefined;
  const goOn = others.map((token) => token.name + (token.until === null ? '' : ` (until ${formatTime(token.until)})`));
  return (
    `Requests with the token ${name}, which works since ${formatTime(ending.since)}, are refused for good. ` +
    `The key goes on with ${goOn.join(', ')}. Nothing takes this back.`
  );
}

/** When a key was changed, who did it, and what. Of an ARN the end says who. */
export function historyCells({ at, who, what, reason }: HistoryRow): [at: string, who: string, what: string] {
  if (who === null) return [formatTime(at), 'unknown', 'not recorded'];
  const because = reason === null ? [] : [`because: ${reason}`];
  return [formatTime(at), who.replace(/^arn:(?:[^:]*:){4}/, ''), [...what, ...because].join('; ')];
}

export const planOfToken = (token: NewToken): string => `is on ${plans[token.plan].title}: ${limitsText(token)}.`;

export const curlWith = ({ key }: NewToken, baseUrl: string): string =>
  `curl -H 'Authorization: Bearer ${key}' ${baseUrl}/inventory`;

export function foundTokenText({ key, token }: FoundToken): string {
  const owner = `It is of ${key.name} (${key.id}, ${key.plan}, ${stateText(key)})`;
  if (!token) return `${owner}, but it has ended, or was never issued.`;
  const refused = key.state === 'active' ? '' : ' It is refused as long as the key is.';
  return `${owner}: its token ${token.name} works (${tokenText(token)}).${refused}`;
}
