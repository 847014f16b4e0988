import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyChange, NewRecord } from '../../../shared/key-registry/key-table.ts';
import { revocation } from '../../../shared/key-registry/key-table.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/verdict.ts';
import { LEASE_MS } from '../../../shared/keys/remembered-key.ts';
import { plans } from '../../../shared/keys/plans.ts';
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
 * Changes a key in the keys table, also while others change it.
 *
 * @param change from the key as it is at that moment; may throw
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
export function changeRecord(
  target: Target,
  keyHash: string,
  change: (keyRecord: KeyRecord) => KeyChange,
): Promise<KeyRecord> {
  return untilDone(async () => {
    const keyRecord = await readRecord(target, keyHash);
    return target.keyTable.revise(keyRecord, change(keyRecord));
  });
}

/** What a key has been called, where there may be no record of it. */
export type KeyNames = Pick<KeyRecord, 'keyHash' | 'keyId' | 'name'>;

/**
 * Closes a key for good. One that has no record gets one that is closed, so that nobody adds it later.
 *
 * @returns the key as it is then
 */
export function closeForGood({ keyTable }: Target, { keyHash, keyId, name }: KeyNames): Promise<KeyRecord> {
  return untilDone(async () => {
    const keyRecord = await keyTable.get(keyHash);
    if (keyRecord?.revoked) return keyRecord;
    if (keyRecord) return keyTable.revise(keyRecord, revocation());
    const closed: NewRecord = {
      keyHash,
      keyId,
      name,
      lineage: keyId,
      plan: 'free',
      ...plans.free.limits,
      usageIdentifier: 'hash',
      createdAt: Date.now(),
      interimUntil: 0,
      ...unusedCounters,
      ...revocation(),
    };
    return (await keyTable.add(closed)) ? { ...closed, revision: 1 } : undefined;
  });
}

/** The record of a key that is there. @throws AdminError where it is revoked */
export async function readRecord({ keyTable }: Target, keyHash: string): Promise<KeyRecord> {
  const keyRecord = await keyTable.get(keyHash);
  if (!keyRecord)
    throw new AdminError('The key was removed from the keys table meanwhile. Run npm run admin -- keys sync');
  if (keyRecord.revoked) throw revokedError(keyRecord.keyId);
  return keyRecord;
}

/**
 * Waits until a change of a key has reached every execution environment: each remembers a key for up to a second.
 *
 * @param grace milliseconds for which the key works as before anyway
 */
export async function outlastMemory({ pause }: Pick<Target, 'pause'>, grace = 0): Promise<void> {
  await pause(Math.max(0, LEASE_MS + MARGIN_MS - grace));
}

/** Whether a key is refused until an admin resumes it. */
export const isSuspendedForGood = ({ suspendedUntil }: KeyRecord): boolean => suspendedUntil >= UNTIL_RESUMED;

export const revokedError = (id: string): AdminError => new AdminError(`The key ${id} was revoked.`);

export function changedMeanwhile(id: string): AdminError {
  return new AdminError(
    `The key ${id} was changed by somebody else meanwhile. Look at it with npm run admin -- keys show ${id}, and run the command again.`,
  );
}

/** @param attempt gives undefined where somebody else was faster */
async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (tries > 1) await sleep(Math.random() * 50 * tries);
  }
  throw new AdminError('The key is being changed by somebody else all the time. Run the command again.');
}
