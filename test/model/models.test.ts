import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { HANG_MS } from '../support/until.ts';

const MAIN = join(import.meta.dirname, '../soak/main.ts');

/**
 * Small rounds of all that `npm run soak` runs for long, each in a process of its own, whose clock and timers are
 * virtual. A failure names the seed or the order. That the models
 * find planted faults is shown each night.
 */
test.each([
  [
    'each model holds: random schedules of the limiter, hostile requests',
    '--small',
    /^limiter: 40 schedules, .*\nfuzz: 1 schedules, .*\n$/,
  ],
  [
    'pairs of commands, syncs and edits violate no rule when interrupted at any call',
    '--keys --every 180',
    /^keys: [1-9]\d+ scenarios\n$/,
  ],
])('%s', async (_, options, expected) => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options.split(' ')], { timeout: HANG_MS });

  expect(stdout).toMatch(expected);
});
