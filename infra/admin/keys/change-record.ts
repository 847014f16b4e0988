import { setTimeout as sleep } from 'node:timers/promises';
import { type KeyChange, newRecord, revocation } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { REMEMBERED_MS } from '../../../shared/keys/remembered-key.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

const MAX_TRIES = 20;

/** For clocks that differ, and requests that are on their way. */
const MARGIN_MS = 500;

/**
 * How long API Gateway may take to know a change of keys everywhere, in milliseconds. Meanwhile the requests of the key
 * are metered on the interim plan.
 */
export const INTERIM_MS = 5 * 60_000;

/**
 * Changes a key in the keys table, also while others change it: the change is made from what is read, by a write that
 * fails where the record is another by then, and then again.
 *
 * @param change from the key as it is at that moment; may throw
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
export function changeRecord(
  target: Target,
  recordId: string,
  change: (record: KeyRecord) => KeyChange,
): Promise<KeyRecord> {
  return untilWritten(async () => {
    const record = await readRecord(target, recordId);
    return target.keyTable.revise(record, change(record));
  });
}

/** The names of a key, also of one that may have no record. */
export type KeyNames = Pick<KeyRecord, 'recordId' | 'keyId' | 'name'>;

/**
 * Closes a key for good. One that has no record gets one that is closed, so that no command or sync adds it later.
 *
 * @returns the key as it is then
 */
export function closeForGood({ keyTable }: Target, { recordId, keyId, name }: KeyNames): Promise<KeyRecord> {
  const { limits } = plans.free;
  return untilWritten(async () => {
    const record = await keyTable.get(recordId);
    if (record?.revoked) return record;
    if (record) return keyTable.revise(record, revocation());
    const identity = { recordId, keyId, name, plan: 'free', ...limits, enabled: false, createdAt: Date.now() } as const;
    return keyTable.add(newRecord(identity, { tokens: {}, ...revocation() }));
  });
}

/** The record of a key that is there. @throws AdminError where it is revoked */
export async function readRecord({ keyTable }: Target, recordId: string): Promise<KeyRecord> {
  const record = await keyTable.get(recordId);
  if (!record)
    throw new AdminError('The key was removed from the keys table meanwhile. Run npm run admin -- keys sync');
  if (record.revoked) throw revokedError(record.keyId);
  return record;
}

/** Waits until no execution environment refuses a key by what it was before: each remembers refusals for up to a second. */
export const waitOutMemory = ({ pause }: Pick<Target, 'pause'>): Promise<void> => pause(REMEMBERED_MS + MARGIN_MS);

/** Whether a key is refused until an admin resumes it. */
export const isSuspendedForGood = ({ suspendedUntil }: KeyRecord): boolean => suspendedUntil >= NEVER;

export const revokedError = (id: string): AdminError => new AdminError(`The key ${id} was revoked.`);

export const changedMeanwhile = (id: string): AdminError =>
  new AdminError(
    `The key ${id} was changed by another command meanwhile. Look at it with npm run admin -- keys show ${id}, and run the command again.`,
  );

/** @param write returns undefined where another was faster */
async function untilWritten(write: () => Promise<KeyRecord | undefined>): Promise<KeyRecord> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const record = await write();
    if (record) return record;
    if (tries > 1) await sleep(Math.random() * 50 * tries);
  }
  throw new AdminError('The key is being changed by others all the time. Run the command again.');
}
