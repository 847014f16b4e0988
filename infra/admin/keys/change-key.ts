import { apply, readLive } from '../../../shared/key-registry/apply.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import type { LiveKey } from '../../../shared/key-registry/live-key.ts';
import {
  cleared,
  editOf,
  INTERIM_MS,
  LOOK_FIRST,
  missingInGateway,
  openingProblem,
  takesEdits,
} from '../../../shared/key-registry/reconcile.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { readRecord, reportUnapplied, syncNow, untilDone } from './change-record.ts';

/** A key as one look found it. */
export interface Seen {
  readonly record: KeyRecord;
  readonly live: LiveKey | undefined;
}

/**
 * Changes a key: one look at API Gateway, one conditional write, which takes effect immediately, then what API Gateway
 * has to say of it. An edit in the AWS console that no sync has seen is taken over in the same write, in which the
 * change's own fields win.
 *
 * @param change from the key as it is with that edit, again where another was faster; may throw
 * @returns the key as it is then; with `unappliedSince` where API Gateway lacks something, which a sync does
 * @throws AdminError where it was revoked, or API Gateway does not find it: whether it is deleted, a sync decides
 */
export async function changeKey(
  target: Target,
  found: KeyRecord,
  change: (now: KeyRecord, seen: Seen) => KeyChange,
): Promise<KeyRecord> {
  // What API Gateway has of a key that came back with a copy is newer, and is found by its value.
  if (found.unappliedSince === LOOK_FIRST && found.keyId === undefined) await syncNow(target);
  return untilDone(async () => {
    const record = await readRecord(target, found.recordId);
    const live = await readLive(target, record);
    if (!live && record.keyId !== undefined) throw notFound(record.keyId);
    const wasApplied = takesEdits(record);
    const edit = editOf(record, live);
    const wanted = { ...edit, ...change({ ...record, ...edit }, { record, live }) };
    const isInGateway = wasApplied && missingInGateway({ ...record, ...wanted }, live).length === 0;
    if (isInGateway && Object.keys(wanted).length === 0 && record.unappliedSince === undefined) return record;
    // From the clock before the write is sent: the minute of its calls may be shorter, never longer.
    const soon = Object.keys(edit).length > 0 ? { interimUntil: Date.now() + INTERIM_MS } : {};
    const stamp = isInGateway ? { ...soon, unappliedSince: undefined } : { unappliedSince: Date.now() };
    const written = await target.keyTable.revise(record, { ...wanted, ...stamp }, { edit });
    if (!written || isInGateway) return written;
    // What takes edits is blocked by now, if an admin has blocked it there. A resumption is meant to open.
    const opening = wasApplied || !record.enabled ? undefined : openingProblem(written, live);
    if (opening) target.notices.incomplete(opening);
    return applyChange(target, { record: written, live }, wasApplied);
  });
}

const notFound = (keyId: string): AdminError =>
  new AdminError(
    `API Gateway does not find the key ${keyId}, and nothing was changed there. If it was deleted, a sync revokes it within five minutes; npm run admin -- keys sync does so now.`,
  );

/**
 * Makes API Gateway say what was written. Where another command changes the key meanwhile, the record stays unapplied,
 * and a sync does the rest.
 *
 * @param wasApplied before that
 * @returns the key as it is then
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
