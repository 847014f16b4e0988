import { expect, test } from '@jest/globals';
import { outlastMemory } from '../../../../infra/admin/keys/outlast-memory.ts';
import { LEASE_MS } from '../../../../shared/keys/lease.ts';

test.each([
  ['at least as long as a lease', 0, LEASE_MS],
  ['less where the key goes on as it was for a while', LEASE_MS, 0],
])('A command that changes a key waits %s', async (_, grace, atLeast) => {
  const startedAt = performance.now();
  await outlastMemory(grace);
  const waited = performance.now() - startedAt;

  expect(waited).toBeGreaterThan(atLeast);
  expect(waited - atLeast).toBeLessThan(LEASE_MS);
});
