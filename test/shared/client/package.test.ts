import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { run } from '../../support/admin-command.ts';
import { issueKey } from '../../support/issue-key.ts';
import { LocalHost } from '../../support/local-host.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = path.join(import.meta.dirname, '../../..');
const folder = temporaryFolder();
const modules = path.join(folder, 'node_modules');
const installed = path.join(modules, 'pet-store-inventory-client');
const example = path.join(folder, 'example.ts');

const read = (file: string): string => readFileSync(file, 'utf8');

/** Packs the client and installs the package as npm would, with its dependencies from this repository. */
beforeAll(async () => {
  const packed = await run('npm', ['pack', '--silent', '--workspace', 'shared/client', '--pack-destination', folder]);
  const tarball = path.join(folder, packed.stdout.trim());
  mkdirSync(installed, { recursive: true });
  const unpacked = await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  if (packed.exitCode !== 0 || unpacked.exitCode !== 0) throw new Error(`${packed.stderr}${unpacked.stderr}`);
  mkdirSync(path.join(modules, '@types'));
  for (const name of ['ky', 'openapi-fetch', 'openapi-typescript-helpers', '@types/node']) {
    symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name));
  }
  writeFileSync(example, /```ts\n(.*?)```/s.exec(read(path.join(installed, 'README.md')))?.[1] ?? '');
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
});

/** What a program has around it. */
interface Platform {
  readonly globals: string;
  readonly module: string;
  readonly types: readonly string[];
}

const forNode: Platform = { module: 'nodenext', types: ['node'], globals: '' };
const forBrowser = {
  module: 'esnext',
  moduleResolution: 'bundler',
  types: [],
  lib: ['es2022', 'dom', 'dom.asynciterable'],
  globals: 'declare const process: { env: Record<string, string | undefined> };',
};

/** Checks the example with the types of Node.js or of a browser. */
function typeCheck({ globals, ...compilerOptions }: Platform): ReturnType<typeof run> {
  writeFileSync(path.join(folder, 'globals.d.ts'), globals);
  const tsconfig = path.join(folder, 'tsconfig.json');
  const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2022' };
  writeFileSync(
    tsconfig,
    JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions }, files: ['example.ts', 'globals.d.ts'] }),
  );
  return run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '--project', tsconfig]);
}

describe('the package of the client', () => {
  test('holds what a program needs, and its licence', () => {
    expect(read(path.join(installed, 'dist/LICENSE'))).toBe(read(path.join(root, 'LICENSE')));
    const code = read(path.join(installed, 'dist/pet-store-inventory-client.js'));
    const imports = Array.from(code.matchAll(/^import .* from "(.*)";$/gm), ([, name]) => name);
    expect(new Set(imports)).toEqual(new Set(['ky', 'openapi-fetch']));
    expect(code).not.toMatch(/\bimport\(|\brequire\(|node:/);
  });

  test.each([
    ['Node.js', forNode],
    ['a browser', forBrowser],
  ])('has an example whose types fit %s', async (_, options) => {
    expect(await typeCheck(options)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('has types that find mistakes', async () => {
    const right = read(example);
    writeFileSync(example, right.replace("status: 'available'", "status: 'lost'").replace('101n', "'101'"));
    const { exitCode, stdout } = await typeCheck(forNode);
    writeFileSync(example, right);
    expect({ exitCode, errors: stdout.match(/error TS\d+/g) }).toEqual({
      exitCode: expect.any(Number),
      errors: ['error TS2322', 'error TS2345'],
    });
    expect(exitCode).not.toBe(0);
  });

  test('has an example that runs', async () => {
    const host = await LocalHost.start();
    try {
      const { token } = await issueKey(host);
      const env = { PET_STORE_URL: host.baseUrl, PET_STORE_API_KEY: token };
      const { exitCode, stdout, stderr } = await run(process.execPath, [example], env);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const lines = stdout.trimEnd().split('\n');
      expect(lines.slice(0, -2)).not.toHaveLength(0);
      for (const line of lines.slice(0, -2)) expect(line).toMatch(/^pet \d+: \d+$/);
      expect(lines.slice(-2)).toEqual([
        expect.stringMatching(/^pet 101 is set to 7; \d+ requests are left$/),
        expect.stringMatching(/^412 PRECONDITION_FAILED: ./),
      ]);
    } finally {
      await host.close();
    }
  });
});
