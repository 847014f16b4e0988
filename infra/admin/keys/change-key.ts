import { setTimeout as sleep } from 'node:timers/promises';
import { readLive, updateGateway } from '../../../shared/key-registry/update-gateway.ts';
import type { LiveKey } from '../../../shared/key-registry/live-key.ts';
import {
  cleared,
  differingFields,
  editOf,
  isUnread,
  lostProblem,
  openingProblem,
  propagating,
  takesEdits,
} from '../../../shared/key-registry/reconcile.ts';
import type { KeyChange } from '../../../shared/key-registry/record-changes.ts';
import { syncKeys } from '../../../shared/key-registry/key-sync.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { REFUSAL_CACHE_TTL_MS } from '../../../shared/keys/limiter.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';

/** A key's record, and its state in API Gateway if that was read. */
export interface Seen {
  readonly record: KeyRecord;
  readonly live: LiveKey | undefined;
}

/**
 * Changes a key: one read of API Gateway, one conditional write, which takes effect immediately, then an update of API
 * Gateway to match. An edit in the AWS console that no sync has read yet is adopted in the same write, in which the
 * fields of the change override it.
 *
 * @param change computes the fields from the key with that edit; called again after a lost race; may throw
 * @returns the updated key; with `unappliedSince` if API Gateway is not up to date, which a sync completes
 * @throws AdminError if it was revoked, or is missing in API Gateway and not to be created anew
 */
export async function changeKey(
  target: Target,
  found: KeyRecord,
  change: (now: KeyRecord, seen: Seen) => KeyChange,
): Promise<KeyRecord> {
  if (isUnread(found) && found.keyId === undefined) await syncRestored(target);
  return untilDone(async () => {
    const record = await readRecord(target, found.recordId);
    const live = await readLive(target, record);
    const wasApplied = takesEdits(record);
    // Only a sync blocks a key that it does not find.
    const edit = live ? editOf(record, live) : {};
    const fields = { ...edit, ...change({ ...record, ...edit }, { record, live }) };
    const changed = { ...record, ...fields };
    const isMissing = !live && record.keyId !== undefined && changed.enabled;
    if (isMissing) checkMayCreateAnew(record, fields);
    const isInGateway = wasApplied && differingFields(changed, live).length === 0;
    if (isInGateway && Object.keys(fields).length === 0 && record.unappliedSince === undefined) return record;
    // Taken before the write, so that the minute reserved for its calls is never exceeded.
    const now = Date.now();
    const pending = { unappliedSince: now, ...(isMissing && { keyId: undefined }) };
    const settled = { unappliedSince: undefined, ...(Object.keys(edit).length > 0 && propagating(record, now)) };
    const written = await target.keyTable.revise(record, { ...fields, ...(isInGateway ? settled : pending) }, { edit });
    if (!written || isInGateway) return written;
    // An adopted edit may have blocked the key. A resume command unblocks it on purpose.
    const isOnPurpose = !record.enabled || fields.enabled === true;
    const opening = wasApplied || isOnPurpose ? undefined : openingProblem(changed, live);
    if (opening) target.report(opening);
    return completeChange(target, { record: written, live }, wasApplied);
  });
}

/** Otherwise a sync decides. @throws AdminError if the key must not, or cannot, be created anew */
function checkMayCreateAnew(record: KeyRecord, { enabled = false }: KeyChange): void {
  if (!isIssued(record.recordId)) throw new AdminError(lostProblem(record));
  if (enabled || !takesEdits(record)) return;
  const id = idOf(record);
  throw new AdminError(
    `The key ${id} is missing in API Gateway. Nothing was changed. Within five minutes, a sync blocks it, or creates it anew if many are missing. To create it anew now: npm run admin -- keys resume ${id}`,
  );
}

/** Updates API Gateway to match; else a sync does. @param wasApplied whether it was up to date before the write */
export async function completeChange(target: Target, { record, live }: Seen, wasApplied: boolean): Promise<KeyRecord> {
  const { keyTable } = target;
  try {
    const keyId = await updateGateway(target, record, live);
    if (!wasApplied && keyId === record.keyId) return reportUnapplied(target, record);
    const settled = await keyTable.revise(record, { keyId, ...(wasApplied && cleared(record, Date.now())) });
    return reportUnapplied(target, settled ?? (await keyTable.get(record.recordId)) ?? record);
  } catch (error) {
    return reportUnapplied(target, record, reasonOf(error));
  }
}

/** API Gateway's key is newer than a restored record, and found by its value. Later syncs do not report an opening. */
async function syncRestored(target: Target): Promise<void> {
  const { opened, problems } = await syncKeys(target);
  for (const words of problems) if (opened.some((id) => words.includes(id))) target.report(words);
}

const MAX_ATTEMPTS = 20;

/**
 * Changes the record of a key by one conditional write, effective immediately, without API Gateway.
 *
 * @param change computes the fields from the key; may throw; no fields: no write
 * @throws AdminError if it was revoked, unless it may be
 */
export function changeRecord(
  target: Target,
  { recordId }: KeyRecord,
  change: (now: KeyRecord) => KeyChange,
  { reason, mayBeRevoked }: { readonly reason?: string | undefined; readonly mayBeRevoked?: true } = {},
): Promise<KeyRecord> {
  return untilDone(async () => {
    const record = await readRecord(target, recordId, mayBeRevoked);
    const wanted = change(record);
    return Object.keys(wanted).length === 0 ? record : target.keyTable.revise(record, wanted, { reason });
  });
}

/** Reports a pending sync of a key. @param reason the cause, to end a sentence */
export function reportUnapplied({ report }: Target, record: KeyRecord, reason = 'another change is in progress') {
  if (record.unappliedSince !== undefined)
    report(
      `The change is in effect, but API Gateway is not up to date yet (${reason}). A sync completes it within six minutes.`,
    );
  return record;
}

/** @throws AdminError if it was revoked, unless it may be */
export async function readRecord({ keyTable }: Target, recordId: string, mayBeRevoked = false): Promise<KeyRecord> {
  const record = await keyTable.get(recordId);
  if (!record) throw new AdminError('The key was deleted from the keys table by another command.');
  if (record.revoked && !mayBeRevoked) throw revokedError(record);
  return record;
}

/** Retries lost races. @param attempt returns undefined after one */
export async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (attempts > 1) await sleep(Math.random() * 50 * attempts);
  }
  throw new AdminError('Other commands keep changing this key. Run the command again.');
}

/** Waits until no execution environment has a cached refusal, with a margin for clock skew and requests in flight. */
export const waitForRefusalCacheExpiry = ({ pause }: Pick<Target, 'pause'>): Promise<void> =>
  pause(REFUSAL_CACHE_TTL_MS + 500);

export const revokedError = (record: KeyRecord): AdminError => new AdminError(`The key ${idOf(record)} was revoked.`);
