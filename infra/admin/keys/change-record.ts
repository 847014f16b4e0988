import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

const MAX_TRIES = 10;
/** For clocks that differ, and requests that are on their way. */
const MARGIN_MS = 500;

/**
 * How long API Gateway may take to know a change of keys everywhere, in milliseconds. Meanwhile the requests of the key
 * are metered on the interim plan.
 */
export const INTERIM_MS = 5 * 60_000;

/**
 * Changes a key in the keys table, whoever else is changing it.
 *
 * @param change from the key as it is
 * @returns the key as it was before
 * @throws AdminError where it is gone
 */
export async function changeRecord(
  target: Target,
  keyHash: string,
  change: (key: KeyRecord) => KeyChange,
): Promise<KeyRecord> {
  const before = await changeRecordIfThere(target, keyHash, change);
  if (!before) throw new AdminError('The key was revoked meanwhile.');
  return before;
}

/** As {@link changeRecord}. @returns undefined where the key is gone */
export async function changeRecordIfThere(
  { keyTable }: Target,
  keyHash: string,
  change: (key: KeyRecord) => KeyChange,
): Promise<KeyRecord | undefined> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const record = await keyTable.get(keyHash);
    if (!record || (await keyTable.revise(record, change(record)))) return record;
    await sleep(Math.random() * 50 * attempt);
  }
  throw new AdminError('The key is being changed by somebody else all the time. Run the command again.');
}

/** Waits until no execution environment acts any more on what it remembers of the key as it was. */
export async function outlastLeases({ keyTable }: Target, before: KeyRecord): Promise<void> {
  let counting: KeyRecord | undefined = before;
  // A rotated key counts on the one that replaced it, which may have got other limits since.
  for (let round = 0; round < MAX_TRIES && counting?.replacedBy !== undefined; round++) {
    counting = await keyTable.get(counting.replacedBy);
  }
  await sleep(LEASE_MS + MARGIN_MS);
}
