import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { type EditableTemplate, inventoryTemplate, templateSchema } from '../../support/service-template.ts';
import { assemble, keep, readAssembly, sourceHash } from '../../../infra/local/assembly/assemble.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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

describe('the hash of the sources', () => {
  const project = temporaryDirectory();

  const write = (path: string, text = ''): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  const sources = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json', 'functions/a.ts', 'shared/c.ts'];

  beforeEach(() => {
    for (const path of [...sources, 'infra/stack/b.ts']) write(path);
  });

  test.each<[string, () => void]>([
    ['a feature flag', () => write('cdk.json', 'changed')],
    ['a dependency', () => write('package-lock.json', 'changed')],
    ['a changed file', () => write('infra/stack/b.ts', 'changed')],
    ['an added file', () => write('shared/new.ts')],
    ['a renamed file', () => renameSync(join(project, 'shared/c.ts'), join(project, 'shared/d.ts'))],
  ])('changes with %s', (_, change) => {
    const before = sourceHash(project);
    change();

    expect(sourceHash(project)).not.toBe(before);
  });

  test.each(['shared/client/dist/a.js', 'shared/.a.ts.swp', 'docs/a.md'])('ignores %s', (path) => {
    const before = sourceHash(project);
    write(path);

    expect(sourceHash(project)).toBe(before);
  });
});
