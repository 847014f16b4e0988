import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MS } from '../../../shared/keys/lease.ts';

/** For clocks that differ, and requests that are on their way. */
const MARGIN_MS = 500;

/**
 * Waits until no execution environment acts any more on what it remembers of a key as it was.
 *
 * @param grace how long the key goes on as it was anyway, in milliseconds
 */
export async function outlastMemory(grace = 0): Promise<void> {
  await sleep(Math.max(0, LEASE_MS + MARGIN_MS - grace));
}
