import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { assemble, keep, readAssembly, sourceHash } from '../../../infra/local/assembly/assemble.ts';
import { followSaves } from '../../../infra/local/assembly/watch-sources.ts';
import { LocalServerError } from '../../../infra/local/local-server-error.ts';
import { type EditableTemplate, inventoryTemplate, templateSchema } from '../../support/service-template.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const root = temporaryDirectory();

/** All but the page's: its files are not uploaded here, and nothing waits for them. */
const serving = ({ Resources }: EditableTemplate) =>
  Object.entries(Resources).flatMap(([id, { Properties }]) =>
    /^(?:Ref|CustomCDK)/.test(id) ? [] : [[id, Properties]],
  );

test('the second start copies the cached assembly and prints nothing', async () => {
  const first = await assemble(root);
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const second = await assemble(root);

  expect(written).not.toHaveBeenCalled();
  expect(readdirSync(second, { recursive: true })).toEqual(readdirSync(first, { recursive: true }));
  const local = v.parse(templateSchema, readAssembly(second).template);
  expect(serving(local)).toEqual(serving(inventoryTemplate('staging')));
  const keys = JSON.stringify(local).match(/[0-9a-f]{64}\.zip/g) ?? [];
  expect(keys.length).toBeGreaterThan(10);
  for (const key of keys) expect(existsSync(readAssembly(second).codeDirectory(key))).toBe(true);
});

test('a new cached assembly replaces all others', () => {
  const [cache, assembly] = [join(root, 'cache'), join(root, 'assembly')];
  for (const directory of [assembly, join(cache, 'older'), join(cache, 'next')])
    mkdirSync(directory, { recursive: true });
  writeFileSync(join(assembly, 'manifest.json'), '');
  keep(assembly, join(cache, 'next'));

  expect(readdirSync(cache, { recursive: true })).toEqual(['next', 'next/manifest.json']);
});

test('the hash of the sources changes with each of them, and with nothing else', () => {
  const project = join(root, 'project');
  const write = (path: string, text = ''): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  const settings = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];
  for (const path of [...settings, 'functions/a.ts', 'infra/stack/b.ts', 'shared/c.ts']) write(path);
  const changes = [
    ...[...settings, 'infra/stack/b.ts', 'shared/new.ts'].map((path) => () => write(path, 'changed')),
    () => renameSync(join(project, 'shared/c.ts'), join(project, 'shared/d.ts')),
  ];
  const hashes = [sourceHash(project)];
  for (const change of changes) {
    change();
    hashes.push(sourceHash(project));
  }
  for (const path of ['shared/client/dist/a.js', 'shared/.a.ts.swp', 'docs/a.md']) write(path);

  expect(new Set(hashes).size).toBe(changes.length + 1);
  expect(sourceHash(project)).toBe(hashes.at(-1));
});

describe('npm run dev', () => {
  let sources: string;

  /** The steps that have begun, and the mocks that record them. */
  let steps: string[];
  let bundle: jest.Mock<() => Promise<void>>;
  let synthesize: jest.Mock<(signal: AbortSignal) => Promise<void>>;
  let stop: () => Promise<void>;

  beforeEach(() => {
    // One for each test: events of files that the test before has saved may be late.
    sources = mkdtempSync(join(root, 'sources-'));
    for (const directory of ['functions', 'shared/stores']) mkdirSync(join(sources, directory), { recursive: true });
    steps = [];
    bundle = jest.fn(async () => void steps.push('bundle'));
    synthesize = jest.fn(async () => void steps.push('synthesize'));
    stop = followSaves(sources, bundle, synthesize);
  });
  afterEach(() => stop());

  const save = (path: string): void => writeFileSync(join(sources, path), `${performance.now()}`);

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
    renameSync(join(sources, 'shared/stores/a.ts.new'), join(sources, 'shared/stores/a.ts'));
    expect(await taken(4)).toHaveLength(4);
    save('shared/stores/a.ts');
    expect(await taken(6)).toHaveLength(6);
    mkdirSync(join(sources, 'shared/new'));
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
});
