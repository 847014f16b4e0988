import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const TIMEOUT_MS = 120_000;
const MAIN = join(import.meta.dirname, '../soak/main.ts');

/**
 * Small sizes of the models that `npm run soak` runs for long, each in a process of its own, whose clock and timers are
 * virtual. A failure names the seed or the order. Storms of a real host run in `npm run soak` only.
 */
test.each([
  [
    'limiter and updates answer what the tables bear out, in random schedules',
    '--model limiter --model updates --seeds 40',
    /^limiter: 40 schedules, .*\nupdates: 40 schedules, .*\n$/,
  ],
  [
    'the models find each fault that is put into limiter and updates',
    '--model limiter --model updates --seeds 600 --broken',
    /^(limiter: seed \d+ shows that .*\n){16}(updates: seed \d+ shows that .*\n){6}$/,
  ],
  [
    'pairs of commands, syncs and edits keep the rules, with a stop, a kill, a lost answer and a late call at every call',
    '--keys --every 60',
    /^keys: [1-9]\d+ scenarios\n$/,
  ],
  ['the explorer finds each fault that is put into keys', '--keys --broken', /^(keys: that .*, shows in .*\n){6}$/],
])(
  '%s',
  async (_, options, expected) => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options.split(' ')]);

    expect(stdout).toMatch(expected);
  },
  TIMEOUT_MS,
);
