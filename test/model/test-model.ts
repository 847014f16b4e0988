import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const SCHEDULES = 500;
const TIMEOUT_MS = 120_000;
const soak = join(import.meta.dirname, '../soak/main.ts');

/** Tests a model in a process of its own, whose clock and timers are virtual. A failure names the seed that replays it. */
export function testModel(model: string): void {
  const run = async (...options: readonly string[]): Promise<string> => {
    const args = [soak, '--model', model, '--seeds', String(SCHEDULES), ...options];
    return (await promisify(execFile)(process.execPath, args)).stdout;
  };

  describe(`The model of the ${model}, in virtual time`, () => {
    test(
      `finds that clients were told what the tables went through, in ${SCHEDULES} schedules`,
      async () => expect(await run()).toContain(`${SCHEDULES} schedules`),
      TIMEOUT_MS,
    );

    test(
      'finds each fault that is put into it',
      async () => expect(await run('--broken')).toContain('shows that'),
      TIMEOUT_MS,
    );
  });
}
