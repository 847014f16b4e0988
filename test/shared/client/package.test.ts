import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildSync } from 'esbuild';
import { int64Fields } from '../../../shared/contract/records.ts';
import { run } from '../../support/admin-command.ts';
import { describeInBrowser, TestBrowser } from '../../support/browser.ts';
import { issueKey } from '../../support/issue-key.ts';
import { LocalHost } from '../../support/local-host.ts';
import { anEntry } from '../../support/tables.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = path.join(import.meta.dirname, '../../..');
const folder = temporaryFolder();
const modules = path.join(folder, 'node_modules');
const manifest = path.join(root, 'shared/client/package.json');
const installed = path.join(modules, 'pet-store-inventory-client');
const example = path.join(folder, 'example.ts');

const read = (file: string): string => readFileSync(file, 'utf8');

let host: LocalHost;
let token: string;

/** Packs the client and installs the package as npm would. It has no dependencies. */
async function install(): Promise<void> {
  const packed = await run('npm', ['pack', '--silent', '--workspace', 'shared/client', '--pack-destination', folder]);
  const tarball = path.join(folder, packed.stdout.trim());
  mkdirSync(installed, { recursive: true });
  const unpacked = await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  if (packed.exitCode !== 0 || unpacked.exitCode !== 0) throw new Error(`${packed.stderr}${unpacked.stderr}`);
  mkdirSync(path.join(modules, '@types'));
  symlinkSync(path.join(root, 'node_modules/@types/node'), path.join(modules, '@types/node'));
  writeFileSync(example, /```ts\n(.*?)```/s.exec(read(path.join(installed, 'README.md')))?.[1] ?? '');
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
}

beforeAll(async () => {
  [host] = await Promise.all([LocalHost.start(), install()]);
  ({ token } = await issueKey(host));
});
afterAll(() => host.close());

describe('the package of the client', () => {
  test('holds what a program needs, and its licence', () => {
    expect(read(path.join(installed, 'dist/LICENSE'))).toBe(read(path.join(root, 'LICENSE')));
    const code = read(path.join(installed, 'dist/pet-store-inventory-client.js'));
    const { dependencies }: Record<string, unknown> = JSON.parse(read(manifest));
    expect(dependencies).toBeUndefined();
    expect(code).not.toMatch(/^import |\bimport\(|\brequire\(|node:/m);
  });

  // The package was built with the types of a browser alone.
  test('has an example whose types fit Node.js', async () => {
    // The declarations of the package are checked as well: they refer to nothing that is not in it.
    const compilerOptions = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2022' };
    const tsconfig = {
      compilerOptions: { ...compilerOptions, module: 'nodenext', types: ['node'] },
      files: ['example.ts'],
    };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    expect(await run(process.execPath, [tsc, '--project', folder])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('has the example of the folder to copy in its README, which links to nothing that is not there', () => {
    const readme = read(path.join(installed, 'README.md'));
    expect(readme).toContain(read(path.join(root, 'docs/client-example/stock.ts')));
    expect(readme).not.toMatch(/\]\((?!https:)/);
  });

  test('has an example that runs', async () => {
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
  });
});

describeInBrowser('the client in a browser', () => {
  const options = {
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName: 'client',
    platform: 'browser',
  } as const;
  const entryPoint = path.join(root, 'shared/client/pet-store-inventory-client.ts');
  const [bundle] = buildSync({ entryPoints: [entryPoint], ...options }).outputFiles;
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterAll(() => browser.close());

  test('lists, updates and fails as it does elsewhere, and is small', async () => {
    expect(bundle?.contents.length).toBeLessThan(8_000);
    await host.stock.put(anEntry('9223372036854775807', 1, 'sold'));
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    await page.goto(`${host.origin}/outputs.json`);
    const seen: unknown = await page.evaluate(`(async () => {
      ${bundle?.text ?? ''}
      const text = (error) => [error.name, error.code ?? error.reason].join(' ');
      const store = new client.InventoryClient({ baseUrl: '${host.baseUrl}/', apiKey: '${token}' });
      let last;
      for await (const entry of store.listInventory({ status: 'sold', limit: 2 })) last = entry;
      const { data, etag, limits } = await store.updateInventory(last.petId, 2);
      await store.updateInventory(last.petId, 3, { ifMatch: etag });
      const stale = await store.updateInventory(last.petId, 4, { ifMatch: etag }).catch(text);
      const nowhere = { baseUrl: '${host.origin.replace(/:\d+$/, ':9')}/v1', apiKey: 'x', maxRetries: 1, retryDelay: 1 };
      const unanswered = await new client.InventoryClient(nowhere).getPet(1n).catch(text);
      return { petId: String(data.petId), quantity: data.quantity, perMinute: limits.limit, stale, unanswered };
    })()`);
    expect(seen).toEqual({
      petId: '9223372036854775807',
      quantity: 2,
      perMinute: expect.any(Number),
      stale: 'ApiError PRECONDITION_FAILED',
      unanswered: 'ConnectionError network',
    });
  });
});

/** The names of all fields, however deep they are, with their formats. */
function fieldsIn(schema: object): [string, { readonly format?: string }][] {
  const inner = Object.values(schema).filter((value) => typeof value === 'object' && value !== null);
  const { properties = {} }: { properties?: Record<string, object> } = schema;
  return [...Object.entries(properties), ...inner.flatMap(fieldsIn)];
}

test('the client reads the int64 fields of the OpenAPI document as bigint, and no field that means something else', () => {
  const { components }: { components: { schemas: object } } = JSON.parse(read(path.join(root, 'docs/openapi.json')));
  const fields = fieldsIn(components.schemas);
  const ofFormat = fields.filter(([, { format }]) => format === 'int64').map(([name]) => name);
  const ofName = fields.filter(([name]) => int64Fields.includes(name)).map(([name]) => name);
  expect(new Set(ofFormat)).toEqual(new Set(int64Fields));
  expect(ofName).toHaveLength(ofFormat.length);
});
