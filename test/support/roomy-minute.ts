import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;

/**
 * Waits for the next minute where this one has not that many seconds left. For tests that count requests on the real
 * clock, which commands in processes of their own go by.
 */
export async function roomyMinute(seconds: number): Promise<void> {
  const left = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (left < seconds * 1_000) await sleep(left);
}
