import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { assemble, sourceHash } from '../../../infra/local/assemble.ts';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// A synthesis takes some seconds, and many more on a machine that is busy.
jest.setTimeout(120_000);

const root = temporaryFolder();

async function assembleInto(name: string): Promise<string> {
  const folder = join(root, name);
  mkdirSync(folder);
  await assemble(folder);
  return folder;
}

test('What one start has synthesised, the next one takes without a word', async () => {
  const first = await assembleInto('first');
  const told = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const second = await assembleInto('second');

  expect(told).not.toHaveBeenCalled();
  expect(readdirSync(second, { recursive: true })).toEqual(readdirSync(first, { recursive: true }));
  expect(readAssembly(second).template).toEqual(readAssembly(synthesizedOnce()).template);
  for (const folder of readAssembly(second).assetFolders.values()) expect(folder.startsWith(`${second}/`)).toBe(true);
});

const project = temporaryFolder();
const sources = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'functions/a.ts',
  'infra/stack/b.ts',
  'shared/c.ts',
];

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

describe('The hash of the sources, by which an assembly is kept,', () => {
  beforeEach(() => {
    for (const folder of ['functions', 'infra', 'shared'])
      rmSync(join(project, folder), { recursive: true, force: true });
    for (const path of sources) write(path, 'as it was');
  });

  test.each(sources)('changes with %s', (path) => {
    const before = sourceHash(project);
    write(path, 'as it is');

    expect(sourceHash(project)).not.toBe(before);
  });

  test.each<[string, () => void]>([
    ['is added', () => write('shared/new.ts', '')],
    ['goes', () => rmSync(join(project, 'shared/c.ts'))],
    ['gets another name', () => renameSync(join(project, 'shared/c.ts'), join(project, 'shared/d.ts'))],
  ])('changes where a file %s', (_, change) => {
    const before = sourceHash(project);
    change();

    expect(sourceHash(project)).not.toBe(before);
  });

  test.each(['shared/client/node_modules/a.js', 'shared/client/dist/a.js', 'shared/.a.ts.swp', 'docs/a.md'])(
    'stays as it is with %s',
    (path) => {
      const before = sourceHash(project);
      write(path, '');

      expect(sourceHash(project)).toBe(before);
    },
  );
});

const assemblies = temporaryFolder();
let assembly = '';
let made = 0;

beforeEach(() => {
  assembly = join(assemblies, `assembly-${made++}`);
  mkdirSync(join(assembly, 'assembly-staging'), { recursive: true });
});

const writeFile = (file: string, content: unknown): void =>
  writeFileSync(join(assembly, 'assembly-staging', file), JSON.stringify(content));

const stack = {
  type: 'aws:cloudformation:stack',
  properties: { stackName: 'staging-Inventory', templateFile: 'template.json' },
};
const assets = { type: 'cdk:asset-manifest', properties: { file: 'assets.json' } };

describe('a cloud assembly', () => {
  test('has the stack of the stage, and the folder behind each key of the asset bucket', () => {
    const another = { ...stack, properties: { stackName: 'staging-ReferenceSite', templateFile: 'another.json' } };
    writeFile('manifest.json', {
      artifacts: { site: another, api: stack, 'site.assets': another, 'api.assets': assets },
    });
    writeFile('template.json', { Resources: {} });
    writeFile('assets.json', {
      files: {
        one: { source: { path: '../asset.1', packaging: 'zip' }, destinations: { here: { objectKey: '1.zip' } } },
      },
    });

    expect(readAssembly(assembly)).toEqual({
      name: 'staging-Inventory',
      template: { Resources: {} },
      assetFolders: new Map([['1.zip', join(assembly, 'asset.1')]]),
    });
  });

  test.each([
    ['without the stack', {}],
    ['without the assets of the stack', { api: stack, 'other.assets': assets }],
  ])('%s is none', (_, artifacts) => {
    writeFile('manifest.json', { artifacts });

    expect(() => readAssembly(assembly)).toThrow(
      new HostError(`The cloud assembly ${assembly} has no stack staging-Inventory`),
    );
  });

  test('that lacks a file says which', () => {
    const file = join(assembly, 'assembly-staging', 'manifest.json');

    expect(() => readAssembly(assembly)).toThrow(new HostError(`The cloud assembly has no file ${file}`));
  });
});
