import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder();
let assembly = '';
let made = 0;

beforeEach(() => {
  assembly = join(root, `assembly-${made++}`);
  mkdirSync(join(assembly, 'assembly-staging'), { recursive: true });
});

const write = (file: string, content: unknown): void =>
  writeFileSync(join(assembly, 'assembly-staging', file), JSON.stringify(content));

const stack = {
  type: 'aws:cloudformation:stack',
  properties: { stackName: 'staging-Inventory', templateFile: 'template.json' },
};
const assets = { type: 'cdk:asset-manifest', properties: { file: 'assets.json' } };

describe('a cloud assembly', () => {
  test('has the stack of the stage, and the folder behind each key of the asset bucket', () => {
    const another = { ...stack, properties: { stackName: 'staging-ReferenceSite', templateFile: 'another.json' } };
    write('manifest.json', { artifacts: { site: another, api: stack, 'site.assets': another, 'api.assets': assets } });
    write('template.json', { Resources: {} });
    write('assets.json', {
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

  test.each(['staging', 'production'] as const)('may be read for %s', (stage) => {
    expect(readAssembly(synthesizedOnce(), stage).name).toBe(`${stage}-Inventory`);
  });

  test.each([
    ['without the stack', {}],
    [
      'with another stack alone',
      { site: { ...stack, properties: { stackName: 'staging-Other' } }, 'site.assets': assets },
    ],
    ['without the assets of the stack', { api: stack, 'other.assets': assets }],
  ])('%s is none', (_, artifacts) => {
    write('manifest.json', { artifacts });

    expect(() => readAssembly(assembly)).toThrow(
      new HostError(`The cloud assembly ${assembly} has no stack staging-Inventory`),
    );
  });

  test('that lacks a file says which', () => {
    const file = join(assembly, 'assembly-staging', 'manifest.json');

    expect(() => readAssembly(assembly)).toThrow(new HostError(`The cloud assembly has no file ${file}`));
  });
});
