import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const TIMEOUT_MS = 120_000;

/** The same in every run. For others, and more: `npm run soak -- --model kill --seeds 10`. */
const SEED = '20261121';

test.each(['kill', 'faults', 'fuzz'])(
  'One round of npm run soak -- --model %s finds nothing; a failure names its seed',
  async (model) => {
    const args = [join(import.meta.dirname, 'main.ts'), '--model', model, '--seed', SEED];
    const { stdout } = await promisify(execFile)(process.execPath, args);

    expect(stdout).toMatch(new RegExp(`^${model}: 1 schedules, [1-9]`));
  },
  TIMEOUT_MS,
);
