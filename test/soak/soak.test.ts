import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const TIMEOUT_MS = 120_000;

/** The same in every run. For others, and more: `npm run soak -- --model kill --seeds 10`. */
const SEED = '20261121';

test(
  'One round of npm run soak with a real host finds nothing; a failure names its model and its seed',
  async () => {
    const models = ['kill', 'faults', 'fuzz'].flatMap((model) => ['--model', model]);
    const args = [join(import.meta.dirname, 'main.ts'), ...models, '--seed', SEED];
    const { stdout } = await promisify(execFile)(process.execPath, args);

    expect(stdout).toMatch(/^kill: 1 schedules, [1-9].*\nfaults: 1 schedules, [1-9].*\nfuzz: 1 schedules, [1-9].*\n$/);
  },
  TIMEOUT_MS,
);
