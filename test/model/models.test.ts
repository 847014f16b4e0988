import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { HANG_MS } from '../support/until.ts';

const MAIN = join(import.meta.dirname, '../soak/main.ts');

/** A little of what `npm run soak` runs for long, in processes of their own, whose clock and timers are virtual. */
test.each([
  ['random schedules of the limiter violate no rule', 'limiter --seeds 40', /^limiter: 40 rounds, .*\n$/],
  ['hostile requests have no other responses than the document says', 'fuzz --seeds 1', /^fuzz: 1 rounds, .*\n$/],
  [
    'pairs of commands, syncs and edits violate no rule when interrupted at any call',
    'keys --every 180',
    /^keys: [1-9]\d+ scenarios\n$/,
  ],
])('%s', async (_, options, expected) => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options.split(' ')], { timeout: HANG_MS });

  expect(stdout).toMatch(expected);
});
