import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyChange } from '../../../shared/key-registry/record-changes.ts';
import { syncKeys, type SyncReport } from '../../../shared/key-registry/sync-keys.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { REFUSAL_CACHE_TTL_MS } from '../../../shared/keys/limiter.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';

const MAX_ATTEMPTS = 20;

/** Margin for clock skew and requests in flight. */
const MARGIN_MS = 500;

/**
 * Changes the record of a key by one conditional write, which takes effect immediately. API Gateway is not called.
 *
 * @param change computes the fields from the key; may throw; no fields: no write @param reason for the history
 * @returns the updated key
 * @throws AdminError if it was revoked
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

/** Reports a pending sync of a key. @param reason the cause, to end a sentence */
export function reportUnapplied({ notices }: Target, record: KeyRecord, reason = 'another change is in progress') {
  if (record.unappliedSince !== undefined)
    notices.incomplete(
      `The change is in effect, but API Gateway is not up to date yet (${reason}). A sync completes it within six minutes.`,
    );
  return record;
}

/** Runs a sync that a command needs, and reports the keys it has unblocked: no later sync reports them. */
export async function syncNow(target: Target): Promise<SyncReport> {
  const report = await syncKeys(target);
  const { opened, problems } = report;
  for (const words of problems) if (opened.some((id) => words.includes(id))) target.notices.incomplete(words);
  return report;
}

/** @throws AdminError if it was revoked */
export async function readRecord({ keyTable }: Target, recordId: string): Promise<KeyRecord> {
  const record = await keyTable.get(recordId);
  if (!record) throw removedError();
  if (record.revoked) throw revokedError(record);
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

/** Waits until no execution environment has a cached refusal of the key: the TTL is 1 s. */
export const waitForRefusalCacheExpiry = ({ pause }: Pick<Target, 'pause'>): Promise<void> =>
  pause(REFUSAL_CACHE_TTL_MS + MARGIN_MS);

export const revokedError = (record: KeyRecord): AdminError => new AdminError(`The key ${idOf(record)} was revoked.`);

export const removedError = (): AdminError =>
  new AdminError('The key was deleted from the keys table by another command.');
