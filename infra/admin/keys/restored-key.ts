import type { ChangeEntry } from '../../../shared/key-registry/key-history.ts';
import { LOOK_FIRST } from '../../../shared/key-registry/reconcile.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import type { Item } from '../../write-items.ts';

/** The item of a restored key, which a sync creates or adopts in API Gateway; undefined if its value is unknown. */
export function restoredKey(item: Item, isOpen: boolean): Item | undefined {
  if (!isIssued(String(item['recordId']))) return undefined;
  // The copy lacks later revocations and suspensions.
  const suspended = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };
  // Higher than every revision since the copy, which the history may have.
  const now = Date.now();
  const restored = { ...item, keyId: undefined, unappliedSince: LOOK_FIRST, revision: now, changedAt: now };
  return isOpen ? restored : { ...restored, ...suspended };
}

export function restoration({ recordId, revision }: Item): ChangeEntry {
  const now = Number(revision);
  return { recordId: String(recordId), revision: now, at: now, what: ['restored from a backup'] };
}
