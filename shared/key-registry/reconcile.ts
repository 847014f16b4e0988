// A key stands in two places. Its item in the keys table is the truth; API Gateway follows it.
//
//   requests ──────────────► item: counters, suspension by the limiter
//   command ─ looks at both ► item: one write on the revision, `unappliedSince` ─► API Gateway: calls ─► item: cleared
//   sync ── lists of both ──► what `reconcile` says of each pair, after a second look at the key alone
//   suspend ─────────────────► item: one write without a look (`LOOK_FIRST`), then as a command without a change
//   console, AWS CLI ───────────────────────────────────────────────────────────► API Gateway: taken over by a sync
//
// States: applied (no `unappliedSince`) → unapplied (a write that API Gateway may not have) → applied, for five minutes
// still metered on the Interim plan. A revoked record stays for 30 days, and its key is deleted wherever it is seen.
//
// Any of these may run at once: each write replaces the revision that it read. API Gateway has no such condition, and a
// call may arrive late. So no call begins later than a minute after the stamp of its write, a stamp is made before the
// write is sent, and only what has been the same for three minutes counts as applied; a command clears its own stamp
// only where the key was applied before, all its calls were answered and the revision is its own.
//
// Whatever is cut off leaves `unappliedSince`: requests go on by the item, on the Interim plan, and a sync does the
// rest. What an admin blocks in API Gateway meanwhile looks the same, so a sync names each key that it opens there.

import { idOf, type KeyRecord, NEVER } from '../keys/key-record.ts';
import { plans } from '../keys/plans.ts';
import { isIssued } from '../keys/token.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';
import { differences, type GatewayFields, type KeyChange, revocation } from './key-table.ts';
import type { LiveKey } from './live-key.ts';

/** A command is at a key that is unapplied for less, in milliseconds: none of its calls begins later. */
export const AT_WORK_MS = 60_000;

/** A call that was late has arrived after so long, also by a clock that is a minute ahead. */
export const SETTLED_MS = 3 * 60_000;

/** Max time for API Gateway to apply a change everywhere. Until then the Interim plan meters the key's requests. */
export const INTERIM_MS = 5 * 60_000;

/**
 * `unappliedSince` of a record that was written without a look at API Gateway: it was suspended, or came back with a
 * copy of the table. What API Gateway has of its key may be newer, and is taken over before the record is applied.
 */
export const LOOK_FIRST = 0;

/** What a sync does about a key. */
export type Step =
  | { readonly kind: 'leave' }
  | { readonly kind: 'report'; readonly problem: string }
  /** A key that was made by hand gets a record. */
  | { readonly kind: 'add'; readonly fields: GatewayFields }
  /** The limits of the catalog have changed: they are no matter of API Gateway. */
  | { readonly kind: 'catalog'; readonly record: KeyRecord; readonly change: KeyChange }
  | ConfirmedStep;

/** What is done only where the key, read by itself, asks for the same: a list may be minutes old. */
export type ConfirmedStep =
  /** `closed`: gone there, or on no plan. `cleared`: API Gateway has all of it. */
  | { readonly kind: 'changed' | 'closed' | 'cleared'; readonly record: KeyRecord; readonly change: KeyChange }
  /** API Gateway gets what the record says. */
  | { readonly kind: 'apply'; readonly record: KeyRecord }
  /** It was revoked: API Gateway must not have it. */
  | { readonly kind: 'delete'; readonly record: KeyRecord };

const LEAVE: Step = { kind: 'leave' };

/**
 * What is to be done about a key, from its record and from what API Gateway says: see the table in docs/keys.md.
 *
 * @param now Unix milliseconds
 */
export function reconcile(record: KeyRecord | undefined, live: LiveKey | undefined, now: number): Step {
  if (!record) return live ? unrecorded(live) : LEAVE;
  if (record.revoked) return live ? { kind: 'delete', record } : LEAVE;
  const { unappliedSince, keyId } = record;
  if (unappliedSince !== undefined && now - unappliedSince < AT_WORK_MS) return LEAVE;
  if (!live && keyId !== undefined) return { kind: 'closed', record, change: revocation(now) };
  const edit = editOf(record, live);
  if (Object.keys(edit).length > 0) return takeOver(record, live, edit, now);
  if (takesEdits(record) && live?.reading && 'problem' in live.reading)
    return problem(live.keyId, live.reading.problem);
  // Closing wins: a key that is suspended, and was enabled there, is disabled there again.
  if (unappliedSince === undefined)
    return isSuspendedForGood(record) && live?.enabled ? { kind: 'apply', record } : LEAVE;
  if (missingInGateway(record, live).length > 0) return { kind: 'apply', record };
  return now - unappliedSince < SETTLED_MS ? LEAVE : { kind: 'cleared', record, change: cleared(now) };
}

function unrecorded({ reading, value, keyId }: LiveKey): Step {
  // On no plan of this stage it is not ours: API Gateway lists the keys of all stages.
  if (!reading) return LEAVE;
  if ('problem' in reading) return problem(keyId, reading.problem);
  if (!isIssued(value)) return { kind: 'add', fields: reading.fields };
  return problem(keyId, 'has no record, so none of its tokens works: delete it in API Gateway, and create another');
}

const problem = (keyId: string, words: string): Step => ({ kind: 'report', problem: `The key ${keyId} ${words}.` });

function takeOver(record: KeyRecord, live: LiveKey | undefined, edit: KeyChange, now: number): Step {
  const isOfCatalog = plans[record.plan].limits !== 'agreed';
  if (isOfCatalog && Object.keys(edit).every((name) => name === 'perMinute' || name === 'perDay'))
    return { kind: 'catalog', record, change: edit };
  if (!live?.reading) return { kind: 'closed', record, change: edit };
  return { kind: 'changed', record, change: { ...edit, interimUntil: now + INTERIM_MS } };
}

/** Whether a key is refused until an admin resumes it. */
const isSuspendedForGood = ({ suspendedUntil }: Pick<KeyRecord, 'suspendedUntil'>): boolean => suspendedUntil >= NEVER;

/** A pending sync is fixed from the record: an untagged key on Enterprise may be an interrupted move. */
export const takesEdits = ({ unappliedSince }: KeyRecord): boolean =>
  unappliedSince === undefined || unappliedSince === LOOK_FIRST;

/** The edit of an admin in the AWS console or CLI that a record has to take over. It never opens what is suspended. */
export function editOf(record: KeyRecord, live: LiveKey | undefined): KeyChange {
  if (!live || !takesEdits(record)) return {};
  const { reading } = live;
  if (reading && 'fields' in reading)
    return differences(record, { ...reading.fields, ...(isSuspendedForGood(record) && { enabled: false }) });
  // On no plan, or with tags that cannot be read, it may only be closed.
  const isClosed = !reading || !live.enabled;
  return isClosed && record.enabled ? { enabled: false } : {};
}

/** The names of what a record says and API Gateway does not. */
export function missingInGateway(record: KeyRecord, live: LiveKey | undefined): string[] {
  if (!live) return ['key'];
  const { plan, perMinute, perDay } = record;
  const { keyId, name, enabled, reading } = live;
  if (!reading || 'problem' in reading) return Object.keys({ plan, ...differences(record, { keyId, name, enabled }) });
  // Only an Enterprise key has limits there.
  const limits = plans[plan].limits === 'agreed' ? {} : { perMinute, perDay };
  return Object.keys(differences(record, { ...reading.fields, ...limits }));
}

/** What an admin should know of a key that is unblocked in API Gateway; undefined where it was not blocked. */
export function openingProblem(record: KeyRecord, live: LiveKey | undefined): string | undefined {
  const { enabled, expiresAtMs = NEVER } = record;
  const expires = live?.tags[gatewayTags.expires];
  const blocks = [
    ...(enabled && live?.enabled === false ? ['is disabled'] : []),
    ...(enabled && live && !live.reading ? ['is on no usage plan'] : []),
    ...(expires !== undefined && !(isoTime(expires) >= expiresAtMs) ? ['expires sooner'] : []),
  ];
  if (blocks.length === 0) return undefined;
  const id = live?.keyId ?? idOf(record);
  return (
    `The key ${id} ${blocks.join(' and ')} in API Gateway. Its record says otherwise, so it is opened there. ` +
    `If an admin has blocked it: npm run admin -- keys suspend ${id}, which always wins.`
  );
}

/** API Gateway has it, and soon everywhere. */
export const cleared = (now: number): KeyChange => ({ unappliedSince: undefined, interimUntil: now + INTERIM_MS });
