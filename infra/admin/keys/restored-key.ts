import { LOOK_FIRST } from '../../../shared/key-registry/reconcile.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { NEVER } from '../../../shared/keys/key-record.ts';
import type { Item } from '../../write-items.ts';

/** The item of a restored key, for a sync to make or adopt in API Gateway; undefined where its value is unknown. */
export function restoredKey(item: Item, isOpen: boolean): Item | undefined {
  if (!isIssued(String(item['recordId']))) return undefined;
  // The copy does not say what was revoked, suspended or ended after it.
  const suspended = { enabled: false, suspendedUntil: NEVER, suspendedByAdmin: true };
  return { ...item, keyId: undefined, unappliedSince: LOOK_FIRST, ...(isOpen ? {} : suspended) };
}
