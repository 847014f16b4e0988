import { expect } from '@jest/globals';
import type { InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { ApiError, InventoryClient } from '../../../shared/client/pet-store-inventory-client.ts';

/** A key that looks for itself in everything a client says. */
export const SECRET_KEY = 'psk_ThisKeyMustNeverBeShown';

/** A client that retries after short pauses. */
export const quickClient = (
  { baseUrl }: { readonly baseUrl: string },
  options: Partial<InventoryClientOptions> = {},
): InventoryClient => new InventoryClient({ baseUrl, apiKey: SECRET_KEY, retryDelay: 4, ...options });

/** The error of a call that must fail with an answer. */
export async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await failureOf(call);
  if (error instanceof ApiError) return error;
  throw error;
}

/** What a call that must fail throws. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    () => undefined,
    (reason: unknown) => ({ reason }),
  );
  expect(outcome).toBeDefined();
  return outcome?.reason;
}
