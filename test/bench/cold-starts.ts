import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { buildSync } from 'esbuild';
import * as v from 'valibot';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleFunction } from '../../infra/stack/bundle.ts';
import { petItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { int64 } from '../support/int64.ts';
import {
  anEntry,
  createOrdersTable,
  createPetsTable,
  createRequestsTable,
  KeysTable,
  StockTable,
} from '../support/tables.ts';
import { aProxyEvent } from '../support/proxy-event.ts';
import { environment, plainOptions } from './bundles.ts';
import { engineClient, withTls } from './engine-client.ts';
import { type Figure, ratioAtMost } from './figure.ts';

const ROUNDS = 21;
const MAX_ANSWER_RATIO = 0.5;
const MAX_FIRST_CALL_RATIO = 2;

const PET_ID = '42';
const token = generateApiKey();

/** An event for each function that calls DynamoDB. */
const events: Readonly<Record<string, object>> = {
  authorizer: {
    ...aProxyEvent({ headers: { Authorization: `Bearer ${token}` } }),
    methodArn: 'arn:aws:execute-api:us-east-1:123456789012:api/v1/GET/inventory',
  },
  'list-inventory': aProxyEvent(),
  'update-inventory': aProxyEvent({
    method: 'PATCH',
    resource: '/inventory/{petId}',
    pathParameters: { petId: PET_ID },
    headers: { 'Content-Type': 'application/json' },
    body: '{"quantity":7}',
  }),
  'get-pet': aProxyEvent({ resource: '/pets/{petId}', pathParameters: { petId: PET_ID } }),
  'list-orders': aProxyEvent({ resource: '/store/orders' }),
};

/**
 * Cold starts of the functions over TLS, each in a fresh process, in turn with the same handler bundled plainly: until
 * the first answer, the import included; and the first call beside those that follow it.
 */
export async function benchColdStarts(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cold-starts-'));
  const embedded = await startEmbeddedEngine(undefined);
  const engine = await withTls(embedded.endpoint, folder);
  try {
    const variables = {
      ...environment,
      ...(await fillTables(engineClient(embedded.endpoint))),
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint.href,
      NODE_EXTRA_CA_CERTS: engine.certificateFile,
    };
    const figures: Figure[] = [];
    for (const [name, event] of Object.entries(events))
      figures.push(...(await benchOne(name, event, variables, folder)));
    return figures;
  } finally {
    await engine.close();
    await embedded.close();
    rmSync(folder, { recursive: true });
  }
}

/** @returns the names of the tables, as the functions are told them */
async function fillTables(client: DynamoDBDocumentClient): Promise<Record<string, string>> {
  const keys = await KeysTable.create(client);
  await keys.issue({ keyHash: hashApiKey(token), perMinute: 1_000, perDay: 1_000_000 });
  const stock = await StockTable.create(client);
  await stock.put(anEntry(PET_ID, 1), { revision: 1 });
  const petsTable = await createPetsTable(client);
  await writeItems(client, petsTable, [{ id: int64(PET_ID), name: 'Rex', photoUrls: [] }], petItem);
  return {
    KEYS_TABLE: keys.name,
    STOCK_TABLE: stock.name,
    PETS_TABLE: petsTable,
    ORDERS_TABLE: await createOrdersTable(client),
    REQUESTS_TABLE: await createRequestsTable(client),
  };
}

async function benchOne(
  name: string,
  event: object,
  variables: Readonly<Record<string, string>>,
  folder: string,
): Promise<Figure[]> {
  const bundle = bundleFunction(name);
  const plainFile = join(folder, `${name}.mjs`);
  buildSync({ ...plainOptions(name), outfile: plainFile });
  const runs: { readonly ours: ColdRun; readonly plain: ColdRun }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await runCold(join(bundle, 'index.mjs'), event, variables);
    runs.push({ ours, plain: await runCold(plainFile, event, variables) });
  }
  rmSync(bundle, { recursive: true });
  return [
    ratioAtMost(
      `${name}: cold answer ÷ plain cold answer`,
      runs.map(({ ours, plain }) => [answerTime(ours), answerTime(plain)]),
      MAX_ANSWER_RATIO,
      ' ms',
    ),
    ratioAtMost(
      `${name}: first call ÷ warm call`,
      runs.map(({ ours }) => [ours.first, ours.warm]),
      MAX_FIRST_CALL_RATIO,
      ' ms',
    ),
  ];
}

const answerTime = ({ imported, first }: ColdRun): number => imported + first;

/** How long a function took in a fresh process, in milliseconds. */
const coldRunSchema = v.object({
  /** Until its handler was there, with all that it does while it is loaded. */
  imported: v.number(),
  first: v.number(),
  /** Median of the calls after the first. */
  warm: v.number(),
});

type ColdRun = v.InferOutput<typeof coldRunSchema>;

/** What Lambda's Node.js runtime is to the function. Its last line says how long everything took. */
const runtimeScript = `
  const { Writable } = require('node:stream');
  const [, file, text] = process.argv;
  let answer;
  globalThis.awslambda = {
    streamifyResponse: (handler) => Object.assign(handler, { streams: true }),
    HttpResponseStream: { from: (stream, metadata) => ((answer = metadata), stream) },
  };
  const sink = () => new Writable({ write: (chunk, encoding, done) => done() });
  async function timeOf(handler) {
    const event = JSON.parse(text);
    const start = performance.now();
    if (handler.streams) await handler(event, sink(), {});
    else answer = await handler(event, {});
    const time = performance.now() - start;
    if (answer.statusCode !== 200 && answer.context?.outcome !== 'ADMITTED') throw new Error(JSON.stringify(answer));
    return time;
  }
  (async () => {
    // Its log is open before a function is loaded.
    console.log('START');
    const start = performance.now();
    const { handler } = await import(file);
    const imported = performance.now() - start;
    const first = await timeOf(handler);
    const others = [];
    for (let call = 0; call < 21; call++) others.push(await timeOf(handler));
    const warm = others.sort((a, b) => a - b)[10];
    console.log('\\n' + JSON.stringify({ imported, first, warm }));
    process.exit();
  })();
`;

/** Loads a function in a fresh process and calls it with the same event again and again. Throws where that is refused. */
async function runCold(file: string, event: object, env: Readonly<Record<string, string>>): Promise<ColdRun> {
  const args = ['--eval', runtimeScript, '--', file, JSON.stringify(event)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return v.parse(coldRunSchema, JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
}
