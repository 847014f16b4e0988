import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { build } from 'esbuild';
import { openApiDocument } from '../../infra/reference/document.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import type { Outcome } from './models.ts';

const run = promisify(execFile);
const modules = path.join(import.meta.dirname, '../../node_modules');

/** The generator that people use most: arguments of `npx`, which read `openapi.json`. */
const GENERATE = '-p @hey-api/openapi-ts@0.99.0 -p typescript@5.9.3 openapi-ts -i openapi.json -o .';

/** Lists two pets, updates pets 101 and 999, and lists again, with what was generated. */
const PROBE = `
  import { client } from './client.gen';
  import { listInventory, updateInventory } from './sdk.gen';
  export async function probe(baseUrl: string, key: string) {
    client.setConfig({ baseUrl, auth: key });
    const list = await listInventory({ query: { petId: [101, 103] } });
    const set = (petId: number) => updateInventory({ path: { petId }, body: { quantity: 7 } });
    const [done, missing] = [await set(101), await set(999)];
    const refused = await listInventory();
    return [list.data?.length, done.data?.quantity, missing.error?.code, refused.error?.code];
  }`;

/** How many entries the list has; the quantity that an update has set; the codes of the two errors. */
const EXPECTED = [2, 7, 'PET_NOT_FOUND', 'RATE_LIMIT_EXCEEDED'];

/** A generator makes a client from the OpenAPI document, which compiles and works. */
export async function generatedClientRound(): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pet-store-client-'));
  const host = await LocalHost.start();
  try {
    // Two updates and a list use a minute up, so that the list after them is refused.
    const { token } = await issueKey(host, { perMinute: 3, perDay: 1_000 });
    const results = await useClient(folder, host.baseUrl, token);
    const isExpected = isDeepStrictEqual(results, EXPECTED);
    return { violations: isExpected ? [] : [JSON.stringify(results)], counts: { generated: 1 } };
  } catch (error) {
    const { stdout = '', message }: { stdout?: string; message?: string } = Object(error);
    return { violations: [`${message}${stdout}`], counts: {} };
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function useClient(folder: string, baseUrl: string, key: string): Promise<unknown> {
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const document = openApiDocument({ serverUrl: baseUrl, environment: 'local' });
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(document));
  await run('npx', ['--yes', ...GENERATE.split(' ')], { cwd: folder });
  const source = path.join(folder, 'probe.ts');
  writeFileSync(source, PROBE);
  const options = '--strict --noEmit --skipLibCheck false --target es2022 --module esnext --moduleResolution bundler';
  const args = [...options.split(' '), '--lib', 'es2022,dom,dom.iterable', '--types', '', source];
  await run(process.execPath, [path.join(modules, 'typescript/bin/tsc'), ...args], { cwd: folder });
  const outfile = path.join(folder, 'probe.mjs');
  await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
  const module: { probe: (baseUrl: string, key: string) => Promise<unknown> } = await import(outfile);
  return module.probe(baseUrl, key);
}
