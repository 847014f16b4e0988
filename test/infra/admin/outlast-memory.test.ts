import { expect, test } from '@jest/globals';
import { outlastMemory } from '../../../infra/admin/keys/change-record.ts';
import { LEASE_MS } from '../../../shared/keys/lease.ts';

test.each([
  ['longer than a lease', 0, LEASE_MS],
  ['less where the key goes on as it was for a while', LEASE_MS, 0],
])('A command that changes a key waits %s', async (_, grace, atLeast) => {
  const waits: number[] = [];
  await outlastMemory({ pause: (ms) => Promise.resolve(void waits.push(ms)) }, grace);

  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThan(atLeast);
  expect(waits[0]).toBeLessThan(atLeast + LEASE_MS);
});
