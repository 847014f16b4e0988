import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from '@jest/globals';

/** An empty folder that goes with the tests around it. Call it where hooks may stand: not in a test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'pet-store-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
