import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
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
