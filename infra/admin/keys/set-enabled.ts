import { NotFoundException, UpdateApiKeyCommand } from '@aws-sdk/client-api-gateway';
import type { Target } from '../target.ts';

/** Enables or disables a key in API Gateway. @returns whether it is there */
export async function setEnabled({ gateway }: Target, apiKey: string, enabled: boolean): Promise<boolean> {
  const patchOperations = [{ op: 'replace' as const, path: '/enabled', value: String(enabled) }];
  try {
    await gateway.send(new UpdateApiKeyCommand({ apiKey, patchOperations }));
    return true;
  } catch (error) {
    if (error instanceof NotFoundException) return false;
    throw error;
  }
}
