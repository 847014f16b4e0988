import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyChange, NewRecord } from '../../../shared/key-registry/key-table.ts';
import { revocation } from '../../../shared/key-registry/key-table.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/suspension.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

const MAX_TRIES = 20;

/**
 * How long API Gateway may take to know a change of keys everywhere, in milliseconds. Meanwhile the requests of the key
 * are metered on the interim plan.
 */
export const INTERIM_MS = 5 * 60_000;

/**
 * Changes a key in the keys table, whoever else is changing it.
 *
 * @param change from the key as it is at that moment; may throw
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
export function changeRecord(
  { keyTable }: Target,
  keyHash: string,
  change: (key: KeyRecord) => KeyChange,
): Promise<KeyRecord> {
  return untilDone(async () => {
    const record = await readRecord({ keyTable }, keyHash);
    return keyTable.revise(record, change(record));
  });
}

/** Who a key is that nobody has a record of. */
export type Nobody = Pick<KeyRecord, 'keyHash' | 'keyId' | 'name'>;

/**
 * Closes a key for good. One that has no record gets one that is closed, so that nobody adds it later.
 *
 * @returns the key as it is then
 */
export function closeForGood({ keyTable }: Target, key: Nobody): Promise<KeyRecord> {
  return untilDone(async () => {
    const record = await keyTable.get(key.keyHash);
    if (record?.revoked) return record;
    if (record) return keyTable.revise(record, revocation());
    const { keyHash, keyId, name } = key;
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
export async function readRecord({ keyTable }: Pick<Target, 'keyTable'>, keyHash: string): Promise<KeyRecord> {
  const record = await keyTable.get(keyHash);
  if (!record)
    throw new AdminError('The key was removed from the keys table meanwhile. Run npm run admin -- keys sync');
  if (record.revoked) throw revokedError(record.keyId);
  return record;
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
