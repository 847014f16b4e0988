import type { KeyRecord } from '../keys/key-record.ts';
import type { KeyChange } from './key-table.ts';

/** How long the record of a revoked key stays, in seconds: nobody who saw the key before adds it again. */
const KEPT_SECONDS = 30 * 86_400;

/** Closes a key for good. DynamoDB deletes the record later. */
export function revocation() {
  return { enabled: false, revoked: true, purgeAt: Math.floor(Date.now() / 1_000) + KEPT_SECONDS } satisfies KeyChange;
}

/** Whether the record of a revoked key has lived half of its time. */
export function isHalfPurged({ purgeAt = 0 }: KeyRecord): boolean {
  return purgeAt < Date.now() / 1_000 + KEPT_SECONDS / 2;
}
