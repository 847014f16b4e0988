import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const TIMEOUT_MS = 120_000;
const MAIN = join(import.meta.dirname, '../soak/main.ts');

/**
 * Small rounds of all that `npm run soak` runs for long, each in a process of its own, whose clock and timers are
 * virtual. A failure names the seed or the order. All faults run in `npm run soak` only.
 */
test.each([
  [
    'each model holds: random schedules of the limiter, hostile requests',
    '--small',
    /^limiter: 40 schedules, .*\nfuzz: 1 schedules, .*\n$/,
  ],
  [
    'the model finds each planted fault of the limiter',
    '--model limiter --seeds 600 --broken --every 5',
    /^(limiter: seed \d+ shows that .*\n){5}$/,
  ],
  [
    'pairs of commands, syncs and edits violate no rule when interrupted at any call',
    '--keys --every 90',
    /^keys: [1-9]\d+ scenarios\n$/,
  ],
  [
    'the explorer finds each planted fault of the key commands',
    '--keys --broken --every 8',
    /^(keys: that .*, shows in .*\n){2}$/,
  ],
])(
  '%s',
  async (_, options, expected) => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options.split(' ')]);

    expect(stdout).toMatch(expected);
  },
  TIMEOUT_MS,
);
