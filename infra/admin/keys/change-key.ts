import { apply, readLive } from '../../../shared/key-registry/apply.ts';
import type { KeyChange } from '../../../shared/key-registry/record-changes.ts';
import type { LiveKey } from '../../../shared/key-registry/live-key.ts';
import {
  cleared,
  editOf,
  INTERIM_MS,
  differingFields,
  isUnread,
  openingProblem,
  takesEdits,
} from '../../../shared/key-registry/reconcile.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { readRecord, reportUnapplied, syncNow, untilDone } from './change-record.ts';

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
 * @throws AdminError if it was revoked, or is missing in API Gateway: a sync decides whether it was deleted
 */
export async function changeKey(
  target: Target,
  found: KeyRecord,
  change: (now: KeyRecord, seen: Seen) => KeyChange,
): Promise<KeyRecord> {
  // API Gateway's key is newer than a record restored from a backup, and is found by its value.
  if (isUnread(found) && found.keyId === undefined) await syncNow(target);
  return untilDone(async () => {
    const record = await readRecord(target, found.recordId);
    const live = await readLive(target, record);
    if (!live && record.keyId !== undefined) throw notFound(record.keyId);
    const wasApplied = takesEdits(record);
    const edit = editOf(record, live);
    const wanted = { ...edit, ...change({ ...record, ...edit }, { record, live }) };
    const isInGateway = wasApplied && differingFields({ ...record, ...wanted }, live).length === 0;
    if (isInGateway && Object.keys(wanted).length === 0 && record.unappliedSince === undefined) return record;
    // Taken before the write, so that the minute reserved for its calls is never exceeded.
    const soon = Object.keys(edit).length > 0 ? { interimUntil: Date.now() + INTERIM_MS } : {};
    const stamp = isInGateway ? { ...soon, unappliedSince: undefined } : { unappliedSince: Date.now() };
    const written = await target.keyTable.revise(record, { ...wanted, ...stamp }, { edit });
    if (!written || isInGateway) return written;
    // An adopted edit may have blocked the key. A resume command unblocks it on purpose.
    const opening = wasApplied || !record.enabled ? undefined : openingProblem(written, live);
    if (opening) target.notices.incomplete(opening);
    return applyChange(target, { record: written, live }, wasApplied);
  });
}

const notFound = (keyId: string): AdminError =>
  new AdminError(
    `The key ${keyId} is missing in API Gateway. Nothing was changed there. If it was deleted, the next sync revokes it within five minutes. To sync now: npm run admin -- keys sync`,
  );

/**
 * Updates API Gateway to match the record. If another command changes the key in the meantime, the sync stays pending
 * and a later one completes it.
 *
 * @param wasApplied whether API Gateway was up to date before the write
 * @returns the updated key
 */
export async function applyChange(target: Target, { record, live }: Seen, wasApplied: boolean): Promise<KeyRecord> {
  const { keyTable } = target;
  try {
    const keyId = await apply(target, record, live);
    if (!wasApplied && keyId === record.keyId) return reportUnapplied(target, record);
    const settled = await keyTable.revise(record, { keyId, ...(wasApplied && cleared(Date.now())) });
    return reportUnapplied(target, settled ?? (await keyTable.get(record.recordId)) ?? record);
  } catch (error) {
    return reportUnapplied(target, record, reasonOf(error));
  }
}
