import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const TIMEOUT_MS = 120_000;
const MAIN = join(import.meta.dirname, '../soak/main.ts');

test(
  'Every schedule of a few requests, and of two admin commands, keeps the rules; npm run soak -- --all goes through more',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--explore']);

    expect(stdout).toMatch(
      /^(requests: [^:]+: [1-9]\d* schedules, \d+ states\n){8}(commands: [^:]+: [1-9]\d* schedules\n){6}$/,
    );
  },
  TIMEOUT_MS,
);
