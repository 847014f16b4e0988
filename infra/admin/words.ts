import { plans } from '../../shared/keys/plans.ts';
import type { FoundToken } from './keys/find-token.ts';
import type { KeyView, TokenView } from './keys/key-view.ts';
import type { NewToken } from './keys/new-token.ts';
import type { KeyToRevoke } from './keys/revoke-key.ts';
import type { Rotation } from './keys/rotate-key.ts';
import type { Resumption } from './keys/suspend-key.ts';
import type { RecordKind, Transfer } from './records/record-kinds.ts';
import { number, time } from './text-format.ts';

// What the command and the console say alike.

/** What an action on a key does, and from when on. */
export const effects = {
  create: 'issues a key and shows it, this once',
  move: 'puts a key on another plan: its limits hold from the next request on, and the counters stay',
  rotate: 'puts a new token in the place of an old one, which works until the grace ends; the key goes on as it is',
  add: 'gives a key another token, under the same limits, and shows it, this once',
  end: 'ends a token of a key, from the next request on; the key goes on with its others',
  find: 'says which key a token is of, and whether it works; asks for it, or reads it from standard input',
  suspend: 'refuses a key from the next request on, for a while or until it is resumed',
  resume: 'lets a suspended key in again, from the next request on',
  revoke: 'ends a key for good, with all its tokens, from the very next request',
} as const;

export function stateText(view: KeyView): string {
  const until = view.suspendedUntil;
  return until === null ? view.state : `${view.state} until ${time(until)}`;
}

/** @param limit null: as agreed with each customer */
export const limitText = (limit: number | null): string => (limit === null ? 'as agreed' : number(limit));

/** `60 requests a minute, 1,000 a day`. */
export const limitsText = ({ perMinute, perDay }: Pick<KeyView, 'perMinute' | 'perDay'>): string =>
  `${number(perMinute)} requests a minute, ${number(perDay)} a day`;

export const planOfNewKey = (key: NewToken): string => `is on ${plans[key.plan].title}: ${limitsText(key)}.`;

export const curlWith = ({ key }: NewToken, baseUrl: string): string =>
  `curl -H 'Authorization: Bearer ${key}' ${baseUrl}/inventory`;

export const moved = ({ name, plan, perMinute, perDay }: KeyView): string =>
  `${name} is on ${plans[plan].title} now: ${number(perMinute)} a minute, ${number(perDay)} a day.`;

export const rotated = ({ label, graceEnds }: Pick<Rotation, 'label' | 'graceEnds'>): string =>
  Date.parse(graceEnds) <= Date.now()
    ? `The old token ${label} is refused from now on.`
    : `The old token ${label} works until ${time(graceEnds)}, under the same limits.`;

export const ended = ({ name }: Pick<KeyView, 'name'>, label: string): string =>
  `The token ${label} of ${name} is refused from now on.`;

/** What a token may do, and until when. */
export const tokenText = ({ access, until, neverShown }: TokenView): string =>
  [
    access === 'read' ? 'reads only' : 'reads and changes',
    until === null ? undefined : `until ${time(until)}`,
    neverShown ? 'was never shown: make it again' : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');

export function foundToken({ key, token }: FoundToken): string {
  const whose = `It is of ${key.name} (${key.id}, ${key.plan}, ${stateText(key)})`;
  if (!token) return `${whose}, but it has ended, or was never issued.`;
  const refused = key.state === 'active' ? '' : ' It is refused as long as the key is.';
  return `${whose}: its token ${token.label} works (${tokenText(token)}).${refused}`;
}

export const suspended = ({ name, suspendedUntil }: KeyView): string =>
  `${name} is suspended until ${suspendedUntil === null ? 'it is resumed' : time(suspendedUntil)}.`;

export const resumed = ({ view, wasClosed }: Resumption): string =>
  `${view.name} is ${wasClosed ? '' : 'not suspended: it is '}${view.state}.`;

/** What is asked before a key is revoked. */
export const revocationQuestion = ({ name, keyId, plan }: KeyToRevoke, place: string): string =>
  `Revoke ${name} (${keyId}, ${plan}) on ${place}? Its requests are refused at once, for good.`;

export const revoked = ({ name, keyId, revoked: wasRevoked }: KeyToRevoke): string =>
  `${name} (${keyId}) is revoked${wasRevoked ? ' already' : ''}.`;

export function imported(
  { names }: Pick<RecordKind<never>, 'names'>,
  { count, place }: Transfer,
  file: string,
): string {
  return `Imported ${number(count)} ${names[count === 1 ? 0 : 1]} from ${file} into ${place}.`;
}
