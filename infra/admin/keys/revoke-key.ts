import { getGatewayKey } from '../../../shared/key-registry/gateway-client.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';
import { closeForGood, type KeyNames } from './change-record.ts';
import { allRecords, findUnrecorded, recordOf, unknownKey } from './find-key.ts';
import { deleteGatewayKey } from './gateway-calls.ts';

/** A key that is to be revoked: its record, or what API Gateway says of one that has none. */
export type KeyToRevoke = KeyNames & Pick<KeyRecord, 'plan'> & { readonly revoked?: boolean };

/** @throws AdminError where there is no such key, neither in API Gateway nor in the keys table */
export async function findKeyToRevoke(target: Target, id: string): Promise<KeyToRevoke> {
  const unrecorded = await findUnrecorded(target, id);
  if (unrecorded) return unrecorded;
  const gatewayKey = await getGatewayKey(target.gateway, id);
  if (gatewayKey) return recordOf(target, gatewayKey);
  // An earlier revocation may have been cut off after the key was gone from API Gateway.
  const record = (await allRecords(target)).find(({ keyId }) => keyId === id);
  if (!record) throw unknownKey(id);
  return record;
}

/**
 * Refuses a key for good, with all its tokens. First in the keys table, so that it ends at once; then it is deleted in API
 * Gateway. On a key that is revoked already it finishes what is left to do.
 */
export async function revokeKey(target: Target, key: KeyToRevoke): Promise<void> {
  await closeForGood(target, key);
  await deleteGatewayKey(target, key.keyId);
}
