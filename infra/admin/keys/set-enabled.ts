import { UpdateApiKeyCommand } from '@aws-sdk/client-api-gateway';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';
import { isSuspendedForGood, readRecord } from './change-record.ts';
import { unlessGone } from './unless-gone.ts';

/** Enables or disables a key in API Gateway. @returns whether it is there */
export async function setEnabled({ gateway }: Target, apiKey: string, enabled: boolean): Promise<boolean> {
  const patchOperations = [{ op: 'replace' as const, path: '/enabled', value: String(enabled) }];
  return (await unlessGone(gateway.send(new UpdateApiKeyCommand({ apiKey, patchOperations })))) !== undefined;
}

/**
 * Has API Gateway say what the keys table says about a suspension, whoever changes that meanwhile.
 *
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
export async function mirrorSuspension(target: Target, key: KeyRecord): Promise<KeyRecord> {
  const isClosed = isSuspendedForGood(key);
  await setEnabled(target, key.keyId, !isClosed);
  const now = await readRecord(target, key.keyHash);
  return isSuspendedForGood(now) === isClosed ? now : mirrorSuspension(target, now);
}
