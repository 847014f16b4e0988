// A key is stored twice. Its item in the keys table is the source of truth; API Gateway follows it: see the picture in
// docs/architecture.md (Key changes), and the table in docs/keys.md (Source of truth).
//
// Requests, commands, syncs and edits in the console may run concurrently: each write replaces the revision it read. API
// Gateway has no conditions, and a call may arrive late. So no call begins later than a minute after the timestamp of
// its write (`unappliedSince`), taken before the write is sent, and only a key that matched for three minutes counts as
// applied. A command clears its own timestamp only if the key was applied before, all its calls succeeded and the
// revision is its own. A block by an admin while a key is not applied looks like an interrupted change, so a sync
// reports each key that it unblocks.

import { idOf, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../keys/key-record.ts';
import { plans } from '../keys/plans.ts';
import { isIssued } from '../keys/token.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';
import { differences, type GatewayFields, type KeyChange } from './record-changes.ts';
import type { LiveKey } from './live-key.ts';

/** Max time of a command on a key, in milliseconds: none of its calls begins later. */
export const MAX_COMMAND_MS = 60_000;

/** Time after which a late call must have arrived, also by a clock that is a minute ahead. */
export const SETTLED_MS = 3 * 60_000;

/** Max time for API Gateway to apply a change everywhere. Until then the Interim plan meters the key's requests. */
export const INTERIM_MS = 5 * 60_000;

/**
 * A flag in `unappliedSince` instead of a time: the record was written without reading API Gateway, as it was suspended
 * or restored from a backup. An edit there may be newer, so it is adopted before the record is applied.
 */
export const UNREAD = 0;

/** Time within which keys that lose their copy or plan are counted together, and are served once they are too many. */
export const FAULT_MS = 60 * 60_000;

export const isUnread = ({ unappliedSince }: Pick<KeyRecord, 'unappliedSince'>): boolean => unappliedSince === UNREAD;

/** The action of a sync on a key. */
export type Step =
  | { readonly kind: 'leave' }
  | { readonly kind: 'report'; readonly problem: string }
  /** A key created manually gets a record. */
  | { readonly kind: 'add'; readonly fields: GatewayFields }
  /** The limits of the catalog have changed, which API Gateway does not store. */
  | { readonly kind: 'catalog'; readonly record: KeyRecord; readonly change: KeyChange }
  /** In a fault, a key whose copy or plan is gone is not blocked. */
  | { readonly kind: 'serve'; readonly record: KeyRecord }
  | ConfirmedStep;

/** Actions that require the same result for a single read of the key: a list may be minutes old. */
export type ConfirmedStep =
  /** `changed`: the record adopts an edit. `cleared`: API Gateway matches. */
  | { readonly kind: 'changed' | 'cleared'; readonly record: KeyRecord; readonly change: KeyChange }
  /** API Gateway is updated to match the record. */
  | { readonly kind: 'apply'; readonly record: KeyRecord }
  /** It was revoked, and is deleted in API Gateway. */
  | { readonly kind: 'delete'; readonly record: KeyRecord };

const LEAVE: Step = { kind: 'leave' };

/** The action on a key, from its record and its state in API Gateway: see the table in docs/keys.md. */
export function reconcile(record: KeyRecord | undefined, live: LiveKey | undefined, now: number): Step {
  if (!record) return live ? unrecorded(live) : LEAVE;
  if (record.revoked) return live ? { kind: 'delete', record } : LEAVE;
  const { unappliedSince } = record;
  if (unappliedSince !== undefined && now - unappliedSince < MAX_COMMAND_MS) return LEAVE;
  const edit = editOf(record, live);
  if (Object.keys(edit).length > 0) return adoptEdit(record, edit, now);
  if (takesEdits(record) && live?.problem !== undefined) return problem(live.keyId, live.problem);
  // Blocking wins: a suspended key that was enabled there is disabled again.
  if (unappliedSince === undefined)
    return isSuspendedUntilResumed(record) && live?.enabled ? { kind: 'apply', record } : LEAVE;
  if (differingFields(record, live).length > 0) return { kind: 'apply', record };
  return now - unappliedSince < SETTLED_MS ? LEAVE : { kind: 'cleared', record, change: cleared(record, now) };
}

function unrecorded({ fields, problem: words, value, keyId }: LiveKey): Step {
  // Without a plan of this stage it is not ours: API Gateway lists the keys of all stages.
  if (words !== undefined) return problem(keyId, words);
  if (!fields) return LEAVE;
  if (!isIssued(value)) return { kind: 'add', fields };
  return problem(keyId, 'has no record, so its tokens are invalid: delete it in API Gateway, and create another');
}

const problem = (keyId: string, words: string): Step => ({ kind: 'report', problem: `The key ${keyId} ${words}.` });

function adoptEdit(record: KeyRecord, edit: KeyChange, now: number): Step {
  const isOfCatalog = plans[record.plan].limits !== 'agreed';
  if (isOfCatalog && Object.keys(edit).every((name) => name === 'perMinute' || name === 'perDay'))
    return { kind: 'catalog', record, change: edit };
  return { kind: 'changed', record, change: { ...edit, ...propagating(record, now) } };
}

/** Whether a key is denied until an admin resumes it. */
export const isSuspendedUntilResumed = ({ suspendedUntil }: Pick<KeyRecord, 'suspendedUntil'>): boolean =>
  suspendedUntil >= UNTIL_RESUMED;

/** A pending sync is fixed from the record: an untagged key on Enterprise may be an interrupted move. */
export const takesEdits = (record: KeyRecord): boolean => record.unappliedSince === undefined || isUnread(record);

/** Whether API Gateway no longer has a key, or has it on no plan. */
export const isDetached = ({ keyId }: KeyRecord, live: LiveKey | undefined): boolean =>
  live ? live.usagePlanId === undefined : keyId !== undefined;

/** Whether a key that has lost its copy or plan in a fault is served on the Interim plan in spite of it. */
export const isServedInFault = ({ enabled, interimUntil }: KeyRecord, now: number): boolean =>
  enabled && interimUntil - now > 2 * INTERIM_MS;

/** An admin's edit in the AWS console or CLI, to adopt in the record. It never unblocks a suspended key. */
export function editOf(record: KeyRecord, live: LiveKey | undefined): KeyChange {
  if (!live) {
    // A pending key is created anew, unless it was created manually: its value is not stored.
    const isDeleted = record.unappliedSince === undefined || !isIssued(record.recordId);
    return isDeleted && record.enabled ? { enabled: false } : {};
  }
  if (!takesEdits(record)) return {};
  if (live.fields)
    return differences(record, { ...live.fields, ...(isSuspendedUntilResumed(record) && { enabled: false }) });
  // Without a plan, or with invalid tags, it can only be blocked.
  const isClosed = live.usagePlanId === undefined || !live.enabled;
  return isClosed && record.enabled ? { enabled: false } : {};
}

/** The names of the fields in which API Gateway differs from a record; `key` if it lacks one that is not blocked. */
export function differingFields(record: KeyRecord, live: LiveKey | undefined): string[] {
  if (!live) return record.enabled ? ['key'] : [];
  const { plan, perMinute, perDay } = record;
  const { keyId, name, enabled, fields } = live;
  if (!fields) return Object.keys({ plan, ...differences(record, { keyId, name, enabled }) });
  // Only an Enterprise key has limits there.
  const limits = plans[plan].limits === 'agreed' ? {} : { perMinute, perDay };
  return Object.keys(differences(record, { ...fields, ...limits }));
}

/**
 * The report about a key to unblock in API Gateway; undefined if it was not blocked.
 *
 * @param isFault whether its copy or plan was lost in a fault, which has a report of its own
 */
export function openingProblem(record: KeyRecord, live: LiveKey | undefined, isFault = false): string | undefined {
  const { enabled, expiresAtMs = NO_EXPIRY } = record;
  const expires = live?.tags[gatewayTags.expires];
  const blocks = [
    ...(enabled && live?.enabled === false ? ['is disabled'] : []),
    ...(enabled && !isFault && isDetached(record, live) ? [live ? 'is on no usage plan' : 'was deleted'] : []),
    ...(expires !== undefined && !(isoTime(expires) >= expiresAtMs) ? ['expires sooner'] : []),
  ];
  if (blocks.length === 0) return undefined;
  const id = live?.keyId ?? idOf(record);
  return (
    `The key ${id} ${blocks.join(' and ')} in API Gateway, unlike its record, so it is ${live ? 'unblocked' : 'created anew'} there. ` +
    `To block it: npm run admin -- keys suspend ${id}, which always wins.`
  );
}

/** The report about a key that was created in API Gateway and is missing there. */
export const lostProblem = (record: KeyRecord): string =>
  `The key ${idOf(record)} was created in API Gateway, and is missing there. Its value is not stored, so it cannot be ` +
  'created anew, and a sync blocks it: create another key for its customer, and revoke this one.';

/** API Gateway propagates a change. */
export const propagating = ({ interimUntil }: KeyRecord, now: number): KeyChange => ({
  interimUntil: Math.max(interimUntil, now + INTERIM_MS),
});

/** API Gateway has the change, and propagates it. */
export const cleared = (record: KeyRecord, now: number) => ({ unappliedSince: undefined, ...propagating(record, now) });
