import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { followSaves } from '../../../infra/local/assembly/watch-sources.ts';
import { LocalServerError } from '../../../infra/local/local-server-error.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const outer = temporaryDirectory();
let root: string;

/** The steps that have begun, and the mocks that record them. */
let steps: string[];
let bundle: jest.Mock<() => Promise<void>>;
let synthesize: jest.Mock<(signal: AbortSignal) => Promise<void>>;
let stop: () => Promise<void>;

beforeEach(() => {
  // One for each test: events of files that the test before has saved may be late.
  root = mkdtempSync(join(outer, 'sources-'));
  for (const directory of ['functions', 'shared/stores']) mkdirSync(join(root, directory), { recursive: true });
  steps = [];
  bundle = jest.fn(async () => void steps.push('bundle'));
  synthesize = jest.fn(async () => void steps.push('synthesize'));
  stop = followSaves(root, bundle, synthesize);
});
afterEach(() => stop());

const save = (path: string): void => writeFileSync(join(root, path), `${performance.now()}`);

/** Waits until this many steps have begun, and a while for more. */
async function taken(count: number): Promise<readonly string[]> {
  await until(`${count} steps have begun`, () => steps.length >= count);
  await setTimeout(200);
  return steps;
}

test('a start or a save in shared/ bundles and synthesizes; a save in functions/ only bundles', async () => {
  expect(await taken(2)).toEqual(['bundle', 'synthesize']);
  save('functions/a.ts');
  expect(await taken(3)).toEqual(['bundle', 'synthesize', 'bundle']);
  save('shared/stores/b.ts');
  expect(await taken(5)).toEqual(['bundle', 'synthesize', 'bundle', 'bundle', 'synthesize']);
});

test('a burst of saves counts once, and editor swap files do not count', async () => {
  await taken(2);
  for (const path of ['shared/a.ts', 'shared/a.ts', 'shared/stores/b.ts', 'functions/c.ts']) save(path);
  expect(await taken(4)).toHaveLength(4);
  save('shared/.a.ts.swp');
  expect(await taken(4)).toHaveLength(4);
});

test('saves count in replaced files and in new directories', async () => {
  save('shared/stores/a.ts');
  await taken(2);
  save('shared/stores/a.ts.new');
  renameSync(join(root, 'shared/stores/a.ts.new'), join(root, 'shared/stores/a.ts'));
  expect(await taken(4)).toHaveLength(4);
  save('shared/stores/a.ts');
  expect(await taken(6)).toHaveLength(6);
  mkdirSync(join(root, 'shared/new'));
  expect(await taken(8)).toHaveLength(8);
  save('shared/new/a.ts');
  expect(await taken(10)).toHaveLength(10);
});

test('a save during a synthesis aborts it and starts another', async () => {
  synthesize.mockImplementationOnce(async (signal) => {
    steps.push('interrupted');
    save('functions/a.ts');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new Error('The operation was aborted');
  });

  expect(await taken(4)).toEqual(['bundle', 'interrupted', 'bundle', 'synthesize']);
});

test('a save during a bundle starts another', async () => {
  bundle.mockImplementationOnce(async () => {
    steps.push('slow');
    save('functions/a.ts');
    await setTimeout(100);
  });

  expect(await taken(3)).toEqual(['slow', 'bundle', 'synthesize']);
});

test('a failed step is reported once and repeated at the next save', async () => {
  const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  await taken(2);
  // As esbuild does, which has printed it.
  bundle.mockRejectedValueOnce(Object.assign(new Error('Build failed'), { errors: [] }));
  save('shared/a.ts');
  await until('the bundle has failed', () => bundle.mock.calls.length === 2);
  synthesize.mockRejectedValueOnce(new LocalServerError('The service cannot be synthesized'));
  save('functions/b.ts');
  expect(await taken(3)).toEqual(['bundle', 'synthesize', 'bundle']);
  save('functions/b.ts');

  expect(await taken(5)).toEqual(['bundle', 'synthesize', 'bundle', 'bundle', 'synthesize']);
  expect(errors.mock.calls).toEqual([['The service cannot be synthesized\n']]);
  errors.mockRestore();
});
