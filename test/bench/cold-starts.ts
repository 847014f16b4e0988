import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import * as v from 'valibot';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleFunction } from '../../infra/stack/bundle.ts';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { KeysTable } from '../support/keys-table.ts';
import { aProxyEvent } from '../support/proxy-event.ts';
import { anEntry, StockTable } from '../support/stock-table.ts';
import { createOrdersTable, createPetsTable, createRequestsTable } from '../support/tables.ts';
import { environment, plainOptions } from './bundles.ts';
import { engineClient } from './engine-client.ts';
import { atMost, type Figure, median } from './figure.ts';
import { withTls } from './tls-engine.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 21);
const MAX_ANSWER_RATIO = 0.5;
const MAX_FIRST_CALL_RATIO = 2;

/** Milliseconds. */
const runSchema = v.object({ imported: v.number(), first: v.number(), warm: v.number() });
type Run = v.InferOutput<typeof runSchema>;

/** What Lambda's Node.js runtime is to the function. Its last line says how long it took. */
const runScript = `
  const { Writable } = require('node:stream');
  let answer;
  globalThis.awslambda = {
    streamifyResponse: (handler) => Object.assign(handler, { streams: true }),
    HttpResponseStream: { from: (stream, metadata) => ((answer = metadata), stream) },
  };
  const [, file, text] = process.argv;
  async function timeOf(handler) {
    const event = JSON.parse(text);
    const start = performance.now();
    if (handler.streams) await handler(event, new Writable({ write: (chunk, _, done) => done() }), {});
    else answer = await handler(event, {});
    const time = performance.now() - start;
    if (answer.statusCode !== 200 && answer.context?.outcome !== 'ADMITTED') throw new Error(JSON.stringify(answer));
    return time;
  }
  (async () => {
    const start = performance.now();
    const { handler } = await import(file);
    const imported = performance.now() - start;
    const first = await timeOf(handler);
    const others = [];
    for (let call = 0; call < 20; call++) others.push(await timeOf(handler));
    const warm = others.sort((a, b) => a - b)[10];
    console.log('\\n' + JSON.stringify({ imported, first, warm }));
    process.exit();
  })();
`;

export async function benchColdStarts(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cold-starts-'));
  const embedded = await startEmbeddedEngine(undefined);
  const engine = await withTls(embedded.endpoint, folder);
  const client = engineClient(embedded.endpoint);
  const token = generateApiKey();
  const keys = await KeysTable.create(client);
  await keys.issue({ keyHash: hashApiKey(token), perMinute: 1_000, perDay: 1_000_000 });
  const stock = await StockTable.create(client);
  await stock.put(anEntry('42', 1, 'pending'), { revision: 5 });
  const env = {
    ...environment,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint.href,
    NODE_EXTRA_CA_CERTS: engine.certificateFile,
    KEYS_TABLE: keys.name,
    STOCK_TABLE: stock.name,
    REQUESTS_TABLE: await createRequestsTable(client),
    PETS_TABLE: await createPetsTable(client),
    ORDERS_TABLE: await createOrdersTable(client),
  };
  const headers = { Authorization: `Bearer ${token}` };
  const events: Record<string, unknown> = {
    authorizer: { ...aProxyEvent({ headers }), methodArn: 'arn:aws:execute-api:us-east-1:123456789012:a/v1/GET/inventory' },
    'list-inventory': aProxyEvent(),
    'update-inventory': aProxyEvent({
      method: 'PATCH',
      resource: '/inventory/{petId}',
      pathParameters: { petId: '42' },
      headers: { 'Content-Type': 'application/json' },
      body: '{"quantity":7}',
    }),
    'list-orders': aProxyEvent({ resource: '/store/orders' }),
  };
  const figures: Figure[] = [];
  for (const [name, event] of Object.entries(events)) {
    const ours = bundleFunction(name);
    const plain = join(folder, `${name}.mjs`);
    buildSync({ ...plainOptions(name), outfile: plain });
    const run = async (file: string): Promise<Run> => {
      const args = ['--eval', runScript, '--', file, JSON.stringify(event)];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      return v.parse(runSchema, JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
    };
    const runs: { ours: Run; plain: Run }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      runs.push({ ours: await run(join(ours, process.env.ENTRY ?? 'index.mjs')), plain: await run(plain) });
    }
    const cold = ({ imported, first }: Run): number => imported + first;
    const answer = median(runs.map((r) => cold(r.ours) / cold(r.plain)));
    const firstCall = median(runs.map((r) => r.ours.first / r.ours.warm));
    console.error(name, 'ours', ...(['imported','first','warm'] as const).map((k) => median(runs.map((r) => r.ours[k])).toFixed(1)),
     'plain', ...(['imported','first','warm'] as const).map((k) => median(runs.map((r) => r.plain[k])).toFixed(1)), answer, firstCall);
    figures.push(atMost(`${name}: cold answer ÷ plain cold answer`, answer, MAX_ANSWER_RATIO), atMost(`${name}: first call ÷ warm call`, firstCall, MAX_FIRST_CALL_RATIO));
    rmSync(ours, { recursive: true });
  }
  await engine.close();
  await embedded.close();
  rmSync(folder, { recursive: true });
  return figures;
}
