import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { build } from 'esbuild';
import { openApiDocument, openApiJson } from '../../infra/reference/document.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import type { Outcome } from './models.ts';

const run = promisify(execFile);
const modules = path.join(import.meta.dirname, '../../node_modules');

interface Generator {
  /** Arguments of `npx`, which read `openapi.json`. */
  readonly generate: string;
  /** A module that lists, updates pets 101 and 999, and lists again, with what was generated. */
  readonly probe: string;
}

/** Entries of the list; the quantity that an update has set; the codes of the two errors. */
const EXPECTED = [true, 7, 'PET_NOT_FOUND', 'RATE_LIMIT_EXCEEDED'];

/** Those that people use most. */
const generators: Readonly<Record<string, Generator>> = {
  '@hey-api/openapi-ts': {
    generate: '-p @hey-api/openapi-ts@0.99.0 -p typescript@5.9.3 openapi-ts -i openapi.json -o .',
    probe: `import { client } from './client.gen';
      import { listInventory, updateInventory } from './sdk.gen';
      export async function probe(baseUrl: string, key: string) {
        client.setConfig({ baseUrl, auth: key });
        const list = await listInventory();
        const set = (petId: number) => updateInventory({ path: { petId }, body: { quantity: 7 } });
        const [done, missing] = [await set(101), await set(999)];
        const refused = await listInventory();
        return [(list.data?.length ?? 0) > 0, done.data?.quantity, missing.error?.code, refused.error?.code];
      }`,
  },
  orval: {
    generate: 'orval@8.38.0 --input openapi.json --output client.ts --client fetch',
    probe: `import { listInventory, updateInventory } from './client';
      export async function probe(baseUrl: string, key: string) {
        const send = globalThis.fetch;
        globalThis.fetch = (address, init) => {
          const headers = { ...init?.headers, Authorization: 'Bearer ' + key };
          return send(baseUrl + address, { ...init, headers });
        };
        try {
          const list = await listInventory();
          const set = (petId: number) => updateInventory(petId, { quantity: 7 });
          const [done, missing] = [await set(101), await set(999)];
          const refused = await listInventory();
          return [
            list.status === 200 && list.data.length > 0,
            done.status === 200 ? done.data.quantity : 0,
            missing.status === 404 && missing.data.code,
            refused.status === 429 && refused.data.code,
          ];
        } finally {
          globalThis.fetch = send;
        }
      }`,
  },
  'swagger-typescript-api': {
    generate: 'swagger-typescript-api@13.13.0 generate -p openapi.json -o . -n client.ts',
    probe: `import { Api, type Error as ErrorBody, type HttpResponse } from './client';
      export async function probe(baseUrl: string, key: string) {
        const api = new Api({ baseUrl, baseApiParams: { headers: { Authorization: 'Bearer ' + key } } });
        const codeOf = (call: Promise<unknown>) =>
          call.then(() => 'none', (failed: HttpResponse<unknown, ErrorBody>) => failed.error.code);
        const list = await api.inventory.listInventory();
        const set = (petId: number) => api.inventory.updateInventory(petId, { quantity: 7 });
        const done = await set(101);
        return [list.data.length > 0, done.data.quantity, await codeOf(set(999)), await codeOf(api.inventory.listInventory())];
      }`,
  },
};

/** A round takes the generator of its seed: it makes a client from the document, which compiles and works. */
export async function generatedClientRound(seed: number): Promise<Outcome> {
  const all = Object.entries(generators);
  const [name, generator] = all[(seed - 1) % all.length] ?? ['none', { generate: '', probe: '' }];
  const folder = mkdtempSync(path.join(tmpdir(), 'pet-store-client-'));
  const host = await LocalHost.start();
  try {
    // Two updates and a list use a minute up, so that the list after them is refused.
    const { token } = await issueKey(host, { perMinute: 3, perDay: 1_000 });
    const results = await useClient(generator, folder, host.baseUrl, token);
    const isExpected = isDeepStrictEqual(results, EXPECTED);
    return { violations: isExpected ? [] : [`${name}: ${JSON.stringify(results)}`], counts: { [name]: 1 } };
  } catch (error) {
    const { stdout = '', message }: { stdout?: string; message?: string } = Object(error);
    return { violations: [`${name}: ${message}${stdout}`], counts: {} };
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function useClient(
  { generate, probe }: Generator,
  folder: string,
  baseUrl: string,
  key: string,
): Promise<unknown> {
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const document = openApiDocument({ serverUrl: baseUrl, environment: 'local' });
  writeFileSync(path.join(folder, 'openapi.json'), openApiJson(document));
  await run('npx', ['--yes', ...generate.split(' ')], { cwd: folder });
  const source = path.join(folder, 'probe.ts');
  writeFileSync(source, probe);
  const options = '--strict --noEmit --skipLibCheck false --target es2022 --module esnext --moduleResolution bundler';
  const args = [...options.split(' '), '--lib', 'es2022,dom,dom.iterable', '--types', '', source];
  await run(process.execPath, [path.join(modules, 'typescript/bin/tsc'), ...args], { cwd: folder });
  const outfile = path.join(folder, 'probe.mjs');
  await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
  const module: { probe: (baseUrl: string, key: string) => Promise<unknown> } = await import(outfile);
  return module.probe(baseUrl, key);
}
