import { ApiError, InventoryClient } from '../../shared/client/pet-store-inventory-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { plans } from '../../shared/keys/plans.ts';
import type { Outcome } from './models.ts';

/** Calls that a client begins concurrently. */
const CALLS = { whole: 1_000, small: 40 };
/** What a client gives up for. */
const REFUSALS: ReadonlySet<string> = new Set(['RATE_LIMIT_EXCEEDED', 'DAILY_QUOTA_EXCEEDED']);
/** What a day has in a small round, so that no call waits for the next minute. */
const SMALL_DAY = { perDay: 30 };

/** A client starts far more calls than its key's limit: each succeeds or is rejected, and the key is not suspended. */
export async function stormRound(isSmall: boolean): Promise<Outcome> {
  const host = await LocalHost.start();
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  const storm = async (plan: 'free' | 'pro'): Promise<void> => {
    const { token } = await issueKey(host, { plan, ...plans[plan].limits, ...(isSmall && SMALL_DAY) });
    const store = new InventoryClient({ baseUrl: host.baseUrl, apiKey: token, maxQueueTime: 90_000 });
    const call = async (): Promise<void> => {
      const outcome = await store.getInventory(101n).then(() => 'answered', outcomeOfError);
      counts[`${plan} ${outcome}`] = (counts[`${plan} ${outcome}`] ?? 0) + 1;
      if (outcome !== 'answered' && !REFUSALS.has(outcome)) violations.push(`a call on ${plan}: ${outcome}`);
    };
    await Promise.all(Array.from({ length: isSmall ? CALLS.small : CALLS.whole }, call));
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
