import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

/** Schedules of `npm test`; `npm run soak` runs thousands. A fault is looked for in as many as it takes. */
const SCHEDULES = 80;
const MOST_SCHEDULES = 500;
const TIMEOUT_MS = 120_000;
const soak = join(import.meta.dirname, '../soak/main.ts');

/** Runs a model in a process of its own, whose clock and timers are virtual. A failure names the seed that replays it. */
async function run(model: string, schedules: number, ...options: readonly string[]): Promise<string> {
  const args = [soak, '--model', model, '--seeds', String(schedules), ...options];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

describe.each(['limiter', 'updates'])('The model of the %s, in virtual time', (model) => {
  test(
    `finds that clients were told what the tables went through, in ${SCHEDULES} schedules`,
    async () => expect(await run(model, SCHEDULES)).toContain(`${SCHEDULES} schedules`),
    TIMEOUT_MS,
  );

  test(
    'finds each fault that is put into it',
    async () => expect(await run(model, MOST_SCHEDULES, '--broken')).toContain('shows that'),
    TIMEOUT_MS,
  );
});
