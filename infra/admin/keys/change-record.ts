import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import { syncKeys, type SyncReport } from '../../../shared/key-registry/sync-keys.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { REFUSAL_CACHE_TTL_MS } from '../../../shared/keys/cached-key.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

const MAX_ATTEMPTS = 20;

/** For clocks that differ, and requests that are on their way. */
const MARGIN_MS = 500;

/**
 * Changes the record of a key by one conditional write, which takes effect immediately. API Gateway is not called.
 *
 * @param change from the key as it is; may throw; without any field nothing is written @param reason for the history
 * @returns the key as it is then
 * @throws AdminError where it was revoked
 */
export function changeRecord(
  target: Target,
  { recordId }: KeyRecord,
  change: (now: KeyRecord) => KeyChange,
  reason?: string,
): Promise<KeyRecord> {
  return untilDone(async () => {
    const record = await readRecord(target, recordId);
    const wanted = change(record);
    return Object.keys(wanted).length === 0 ? record : target.keyTable.revise(record, wanted, { reason });
  });
}

/** Reports where API Gateway lacks something of a key that a sync does. @param reason why, for the end of a sentence */
export function reportUnapplied({ notices }: Target, record: KeyRecord, reason = 'another change is not finished') {
  if (record.unappliedSince !== undefined)
    notices.incomplete(
      `It is done, but API Gateway does not have all of the key yet (${reason}). Requests go by the record already, and a sync does the rest within six minutes.`,
    );
  return record;
}

/** A sync that a command needs. It names what it has opened: no later one reports that again. */
export async function syncNow(target: Target): Promise<SyncReport> {
  const report = await syncKeys(target);
  const { opened, problems } = report;
  for (const words of problems) if (opened.some((id) => words.includes(id))) target.notices.incomplete(words);
  return report;
}

/** @throws AdminError where it was revoked */
export async function readRecord({ keyTable }: Target, recordId: string): Promise<KeyRecord> {
  const record = await keyTable.get(recordId);
  if (!record) throw removedError();
  if (record.revoked) throw revokedError(record);
  return record;
}

/** @param attempt returns undefined where another was faster */
export async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (attempts > 1) await sleep(Math.random() * 50 * attempts);
  }
  throw new AdminError('The key is being changed by others all the time. Run the command again.');
}

/** Waits until no execution environment refuses a key by its old state: each caches refusals for up to 1 s. */
export const waitForRefusalCacheExpiry = ({ pause }: Pick<Target, 'pause'>): Promise<void> =>
  pause(REFUSAL_CACHE_TTL_MS + MARGIN_MS);

export const revokedError = (record: KeyRecord): AdminError => new AdminError(`The key ${idOf(record)} was revoked.`);

export const removedError = (): AdminError => new AdminError('The key was removed from the keys table meanwhile.');
