import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds after which any wait for work ends, so that it can report what it waited for: only what hangs takes so
 * long, on the busiest machine. A little less than Jest's own end, `testTimeout`.
 */
export const HANG_MS = 9 * 60_000;

/** Waits until a condition holds. @throws Error with what it waited for, once it seems to hang */
export async function until(what: string, condition: () => unknown): Promise<void> {
  const end = performance.now() + HANG_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited ${HANG_MS / 60_000} minutes in vain until ${what}`);
    await sleep(20);
  }
}
