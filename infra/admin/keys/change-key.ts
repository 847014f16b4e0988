import { setTimeout as sleep } from 'node:timers/promises';
import { apply, lookAt } from '../../../shared/key-registry/apply.ts';
import { type KeyChange, revocation } from '../../../shared/key-registry/key-table.ts';
import type { LiveKey } from '../../../shared/key-registry/live-key.ts';
import { cleared, editOf, INTERIM_MS, missingInGateway } from '../../../shared/key-registry/reconcile.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { REMEMBERED_MS } from '../../../shared/keys/remembered-key.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';

const MAX_TRIES = 20;

/** For clocks that differ, and requests that are on their way. */
const MARGIN_MS = 500;

/** A key as one look found it. */
export interface Seen {
  readonly record: KeyRecord;
  readonly live: LiveKey | undefined;
}

interface ChangeOptions {
  /** Fails where another change was faster: what was closed meanwhile stays closed. */
  readonly isOnce?: boolean;
}

/**
 * Changes a key: one conditional write, which holds at once, then what API Gateway has to say of it. An edit in the AWS
 * console that no sync has seen is taken over in the same write, in which the change's own fields win.
 *
 * @param change from the key as it is with that edit; may throw
 * @returns the key as it is then; with `unappliedSince` where API Gateway lacks something, which a sync does
 * @throws AdminError where it was revoked, or deleted in API Gateway
 */
export function changeKey(
  target: Target,
  { recordId }: KeyRecord,
  change: (now: KeyRecord, seen: Seen) => KeyChange,
  { isOnce = false }: ChangeOptions = {},
): Promise<KeyRecord> {
  return untilDone(async () => {
    const record = await readRecord(target, recordId);
    const live = await lookAt(target, record);
    if (!live && record.keyId !== undefined) return closeDeleted(target, record);
    const wasApplied = record.unappliedSince === undefined;
    const edit = editOf(record, live);
    const wanted = { ...edit, ...change({ ...record, ...edit }, { record, live }) };
    const isInGateway = wasApplied && missingInGateway({ ...record, ...wanted }, live).length === 0;
    if (isInGateway && Object.keys(wanted).length === 0) return record;
    // From the clock before the write is sent: the minute of its calls may be shorter, never longer.
    const soon = Object.keys(edit).length > 0 ? { interimUntil: Date.now() + INTERIM_MS } : {};
    const stamp = isInGateway ? soon : { unappliedSince: Date.now() };
    const written = await target.keyTable.revise(record, { ...wanted, ...stamp });
    if (!written && isOnce) throw changedMeanwhile(idOf(record));
    return written && !isInGateway ? applyChange(target, { record: written, live }, wasApplied) : written;
  });
}

/**
 * Makes API Gateway say what was written. Where another command changes the key meanwhile, the record stays unapplied, and
 * a sync does the rest.
 *
 * @param wasApplied before that
 * @returns the key as it is then
 */
export async function applyChange(target: Target, { record, live }: Seen, wasApplied: boolean): Promise<KeyRecord> {
  const { keyTable, notices } = target;
  try {
    const keyId = await apply(target, record, live);
    if (!wasApplied && keyId === record.keyId) return record;
    const settled = await keyTable.revise(record, { keyId, ...(wasApplied && cleared(Date.now())) });
    return settled ?? (await keyTable.get(record.recordId)) ?? record;
  } catch (error) {
    notices.incomplete(
      `It is done, but API Gateway does not have all of it yet (${reasonOf(error)}). Requests go by it already, and a sync does the rest within six minutes.`,
    );
    return record;
  }
}

/** @throws AdminError where it was revoked */
export async function readRecord({ keyTable }: Pick<Target, 'keyTable'>, recordId: string): Promise<KeyRecord> {
  const record = await keyTable.get(recordId);
  if (!record) throw new AdminError('The key was removed from the keys table meanwhile.');
  if (record.revoked) throw revokedError(record);
  return record;
}

/** @param attempt returns undefined where another was faster */
export async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (tries > 1) await sleep(Math.random() * 50 * tries);
  }
  throw new AdminError('The key is being changed by others all the time. Run the command again.');
}

/**
 * Closes a key that was deleted in API Gateway.
 *
 * @returns undefined where it was changed meanwhile
 * @throws AdminError that says so
 */
async function closeDeleted({ keyTable }: Target, record: KeyRecord): Promise<undefined> {
  if (!(await keyTable.revise(record, revocation(Date.now())))) return undefined;
  throw new AdminError(`The key ${idOf(record)} was deleted in API Gateway, and is revoked. Create another.`);
}

/** Waits until no execution environment refuses a key by what it was before: each remembers refusals for up to a second. */
export const waitOutMemory = ({ pause }: Pick<Target, 'pause'>): Promise<void> => pause(REMEMBERED_MS + MARGIN_MS);

export const revokedError = (record: KeyRecord): AdminError => new AdminError(`The key ${idOf(record)} was revoked.`);

const changedMeanwhile = (id: string): AdminError =>
  new AdminError(
    `The key ${id} was changed by another command meanwhile. Look at it with npm run admin -- keys show ${id}, and run the command again.`,
  );
