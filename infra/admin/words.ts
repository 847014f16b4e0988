import { plans } from '../../shared/keys/plans.ts';
import type { NewKey } from './keys/create-key.ts';
import type { KeyView } from './keys/key-view.ts';
import type { DoomedKey } from './keys/revoke-key.ts';
import type { Rotation } from './keys/rotate-key.ts';
import type { Resumption } from './keys/suspend-key.ts';
import type { RecordKind, Transfer } from './records/record-kinds.ts';

// What the command and the console say alike.

/** What a terminal acts on, what ends a line or a column, and what turns the direction of text. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text of others, such as a name, with what cannot be seen in it as JSON writes it: `\u001b`. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same of text that has several lines. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/** `1,000`. */
export const number = (value: number): string => value.toLocaleString('en');

/** `0.6 %`. */
export const percent = (share: number): string =>
  `${(share * 100).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`;

/** `2026-11-21 12:30 UTC`. */
export const time = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

export const timeOrNever = (iso: string | null): string => (iso === null ? 'never' : time(iso));

/** What an action on a key does, and from when on. */
export const effects = {
  create: 'issues a key and shows it, this once',
  move: 'puts a key on another plan: its limits hold from the next request on, and the counters stay',
  rotate: 'makes a new key in place of an old one, which works until the grace ends; both count as one',
  suspend: 'refuses a key from the next request on, for a while or until it is resumed',
  resume: 'lets a suspended key in again, from the next request on',
  revoke: 'ends a key for good, from the very next request, and with it those that were rotated to it',
} as const;

export function stateText(view: KeyView): string {
  const until = view.suspendedUntil ?? (view.state === 'rotated' ? view.expires : null);
  return until === null ? view.state : `${view.state} until ${time(until)}`;
}

/** @param limit null: as agreed with each customer */
export const limitText = (limit: number | null): string => (limit === null ? 'as agreed' : number(limit));

/** `60 requests a minute, 1,000 a day`. */
export const limitsText = ({ perMinute, perDay }: Pick<KeyView, 'perMinute' | 'perDay'>): string =>
  `${number(perMinute)} requests a minute, ${number(perDay)} a day`;

export const planOfNewKey = (key: NewKey): string => `is on ${plans[key.plan].title}: ${limitsText(key)}.`;

export const curlWith = ({ key }: NewKey, baseUrl: string): string =>
  `curl -H 'Authorization: Bearer ${key}' ${baseUrl}/inventory`;

export const moved = ({ name, plan, perMinute, perDay }: KeyView): string =>
  `${name} is on ${plans[plan].title} now: ${number(perMinute)} a minute, ${number(perDay)} a day.`;

export const rotated = ({ replaces, graceEnds }: Rotation): string =>
  Date.parse(graceEnds) <= Date.now()
    ? `The old key ${replaces} is refused from now on.`
    : `The old key ${replaces} works until ${time(graceEnds)}. Both count as one.`;

export const suspended = ({ name, suspendedUntil }: KeyView): string =>
  `${name} is suspended until ${suspendedUntil === null ? 'it is resumed' : time(suspendedUntil)}.`;

export function resumed({ view, wasClosed, successorId }: Resumption): string {
  const counting = successorId === undefined ? '' : ` It was rotated to ${successorId}, which counts for both.`;
  return `${view.name} is ${wasClosed ? '' : 'not suspended: it is '}${view.state}.${counting}`;
}

/** What is asked before a key is revoked. */
export function revocationQuestion({ record, predecessors }: DoomedKey, place: string): string {
  const also = predecessors.length > 0 ? 'It and the keys that were rotated to it are' : 'Its requests are';
  return `Revoke ${record.name} (${record.keyId}, ${record.plan}) on ${place}? ${also} refused at once, for good.`;
}

/** A line for each key. @param also the ids of those that ended with it */
export function revoked({ name, keyId, revoked: wasRevoked }: DoomedKey['record'], also: readonly string[]): string {
  if (wasRevoked) return `${name} (${keyId}) is revoked already.`;
  return [keyId, ...also].map((id) => `${name} (${id}) is revoked.`).join('\n');
}

export function imported(
  { names }: Pick<RecordKind<never>, 'names'>,
  { count, place }: Transfer,
  file: string,
): string {
  return `Imported ${number(count)} ${names[count === 1 ? 0 : 1]} from ${file} into ${place}.`;
}
