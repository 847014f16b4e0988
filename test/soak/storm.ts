import { ApiError, InventoryClient } from '../../shared/client/pet-store-inventory-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { plans } from '../../shared/keys/plans.ts';
import type { Outcome } from './models.ts';

/** Calls that a client begins concurrently. */
const CALLS = 1_000;

/** A client begins far more calls than its key may make: each is answered or rejected, and the key is not suspended. */
export async function stormRound(): Promise<Outcome> {
  const host = await LocalHost.start();
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  const storm = async (plan: 'free' | 'pro'): Promise<void> => {
    const { token } = await issueKey(host, { plan, ...plans[plan].limits });
    const store = new InventoryClient({ baseUrl: host.baseUrl, apiKey: token });
    const call = async (): Promise<void> => {
      const outcome = await store.getInventory(101n).then(() => 'answered', outcomeOfError);
      counts[`${plan} ${outcome}`] = (counts[`${plan} ${outcome}`] ?? 0) + 1;
      if (outcome !== 'answered' && outcome !== 'RATE_LIMIT_EXCEEDED') violations.push(`a call on ${plan}: ${outcome}`);
    };
    await Promise.all(Array.from({ length: CALLS }, call));
  };
  try {
    await Promise.all([storm('free'), storm('pro')]);
  } finally {
    await host.close();
  }
  return { violations, counts };
}

/** Its code, where the error says when to ask again. */
function outcomeOfError(error: unknown): string {
  return error instanceof ApiError && error.retryAfter !== undefined ? error.code : String(error);
}
