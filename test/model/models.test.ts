import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

/** Schedules of `npm test`; `npm run soak` runs thousands. A fault is looked for in as many as it takes. */
const SCHEDULES = 40;
const MOST_SCHEDULES = 600;
const TIMEOUT_MS = 120_000;

/** Runs both models in a process of its own, whose clock and timers are virtual. A failure names the seed that replays it. */
async function run(...options: readonly string[]): Promise<string> {
  const args = [join(import.meta.dirname, '../soak/main.ts'), '--model', 'limiter', '--model', 'updates', ...options];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

test(
  'The limiter and updates tell clients what the tables went through, in random schedules',
  async () =>
    expect(await run('--seeds', String(SCHEDULES))).toMatch(/^limiter: 40 schedules, .*\nupdates: 40 schedules, .*\n$/),
  TIMEOUT_MS,
);

test(
  'The models find each fault that is put into the limiter and updates',
  async () =>
    expect(await run('--seeds', String(MOST_SCHEDULES), '--broken')).toMatch(
      /^(limiter: seed \d+ shows that .*\n){18}(updates: seed \d+ shows that .*\n){6}$/,
    ),
  TIMEOUT_MS,
);
