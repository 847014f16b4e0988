import { plans } from '../../shared/keys/plans.ts';
import type { KeyView, TokenView } from './keys/key-view.ts';
import type { NewToken } from './keys/new-token.ts';
import type { KeyToRevoke } from './keys/revoke-key.ts';
import { limitsText, time, visible } from './text-format.ts';

export function stateText({ state, suspendedUntil }: KeyView): string {
  return suspendedUntil === null ? state : `${state} until ${time(suspendedUntil)}`;
}

/** What a token may do, and until when. */
export function tokenText({ access, until, neverShown }: TokenView): string {
  const parts = [access === 'read' ? 'reads only' : 'reads and changes'];
  if (until !== null) parts.push(`until ${time(until)}`);
  if (neverShown) parts.push('was never shown: make it again');
  return parts.join(', ');
}

export const planOfToken = (token: NewToken): string => `is on ${plans[token.plan].title}: ${limitsText(token)}.`;

export const curlWith = ({ key }: NewToken, baseUrl: string): string =>
  `curl -H 'Authorization: Bearer ${key}' ${baseUrl}/inventory`;

export const revokedText = ({ name, keyId, revoked }: KeyToRevoke): string =>
  `${visible(name)} (${keyId}) is revoked${revoked ? ' already' : ''}.`;
