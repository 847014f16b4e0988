import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { int64Fields } from '../../../shared/contract/records.ts';
import { run } from '../../support/admin-command.ts';
import { issueKey, LocalHost } from '../../support/local-host.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const root = path.join(import.meta.dirname, '../../..');
const directory = temporaryDirectory();
const installed = path.join(directory, 'node_modules/pet-store-inventory-client');

const read = (file: string): string => readFileSync(file, 'utf8');

let host: LocalHost;
let token: string;

/** Packs the client and installs the package as npm would. It has no dependencies. */
async function install(): Promise<void> {
  const packed = await run('npm', [
    'run',
    '--silent',
    'pack',
    '-w',
    'shared/client',
    '--',
    `--pack-destination=${directory}`,
  ]);
  if (packed.exitCode !== 0) throw new Error(packed.stderr);
  const tarball = path.join(directory, packed.stdout.trim());
  mkdirSync(installed, { recursive: true });
  const unpacked = await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  if (unpacked.exitCode !== 0) throw new Error(unpacked.stderr);
  writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
}

beforeAll(async () => {
  [host] = await Promise.all([LocalHost.start(), install()]);
  ({ token } = await issueKey(host));
});
afterAll(() => host?.close());

describe('The package of the client', () => {
  test('has no imports and no dependencies, the license, and a README with the example to copy', () => {
    const readme = read(path.join(installed, 'README.md'));

    expect(read(path.join(installed, 'dist/LICENSE'))).toBe(read(path.join(root, 'LICENSE')));
    expect(read(path.join(installed, 'dist/pet-store-inventory-client.js'))).not.toMatch(
      /^import |\bimport\(|\brequire\(|node:/m,
    );
    expect(JSON.parse(read(path.join(installed, 'package.json')))).not.toHaveProperty('dependencies');
    expect(readme).toContain(read(path.join(root, 'docs/client-example/stock.ts')));
    expect(readme).not.toMatch(/\]\((?!https:)/);
  });

  test('has an example in its README that compiles and runs on Node.js', async () => {
    const [, text = ''] = /```ts\n(.*?)```/s.exec(read(path.join(installed, 'README.md'))) ?? [];
    const example = path.join(directory, 'example.ts');
    writeFileSync(example, text);
    const modules = path.join(root, 'node_modules');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022'];
    const types = ['--ignoreConfig', '--noEmit', '--types', 'node', '--typeRoots', path.join(modules, '@types')];
    const env = { PET_STORE_URL: host.baseUrl, PET_STORE_API_KEY: token };
    const [compiled, ran] = await Promise.all([
      run(process.execPath, [path.join(modules, 'typescript/bin/tsc'), ...strict, ...types, example]),
      run(process.execPath, [example], env),
    ]);

    const ok = { exitCode: 0, stderr: '' };
    expect(compiled).toEqual({ ...ok, stdout: '' });
    const printed = /^(pet \d+: \d+\n)+pet 101 is set to 7; \d+ requests are left\n412 PRECONDITION_FAILED: .+\n$/;
    expect(ran).toEqual({ ...ok, stdout: expect.stringMatching(printed) });
  });
});

test('The client reads exactly the int64 fields of the OpenAPI document as bigint', () => {
  const { components }: { components: { schemas: object } } = JSON.parse(read(path.join(root, 'docs/openapi.json')));
  const ofFormat = new Set<string>();
  const others: string[] = [];
  JSON.stringify(components.schemas, (name, value: object | null) => {
    if (value !== null && typeof value === 'object' && 'format' in value && value.format === 'int64')
      ofFormat.add(name);
    else if (int64Fields.includes(name) && typeof value === 'object') others.push(name);
    return value;
  });

  expect(ofFormat).toEqual(new Set(int64Fields));
  expect(others).toEqual([]);
});
