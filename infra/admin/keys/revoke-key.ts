import { deleteLiveKey } from '../../../shared/key-registry/apply.ts';
import { revocation } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { untilDone } from './change-key.ts';

/** Refuses a key for good, with all its tokens: in the keys table, so that it ends at once; then it is deleted in API Gateway. */
export async function revokeKey(target: Target, { recordId }: KeyRecord): Promise<KeyRecord> {
  const revoked = await untilDone(async () => {
    const record = await target.keyTable.get(recordId);
    return record && !record.revoked ? target.keyTable.revise(record, revocation(Date.now())) : record;
  });
  try {
    if (revoked.keyId !== undefined) await deleteLiveKey(target, revoked.keyId);
  } catch (error) {
    target.notices.incomplete(
      `It is revoked, and still in API Gateway (${reasonOf(error)}): the next sync deletes it there.`,
    );
  }
  return revoked;
}
