import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { demoKey } from '../../infra/demo-keys.ts';
import { account, localCredentials, OUTPUTS_PATH } from '../../infra/local-endpoint.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleOf } from '../../infra/stack/bundle.ts';
import { STREAMING_NODE_OPTIONS } from '../../infra/stack/operation-functions.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { writeItems } from '../../infra/write-items.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { petStatuses } from '../../shared/contract/records.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { int64 } from '../support/int64.ts';
import { documentsAt } from '../support/local-host.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';
import { createStockTable } from '../support/tables.ts';
import { atMost, type Figure, median, progress, report, timeOf } from './figure.ts';
import { RunningHost } from './running-host.ts';

/** Turns that count; the first warms up and does not. */
const TURNS = 7;

const sizes = { tiny: 1_000, small: 10_000, large: 100_000 };
type Size = keyof typeof sizes;

/** Stock of `count` pets, petId 1 and up, of all statuses. */
export const manyPets = (count: number): InventoryItem[] =>
  Array.from({ length: count }, (_, index) => {
    const status = petStatuses[(index + 1) % petStatuses.length] ?? 'available';
    return { petId: int64(String(index + 1)), quantity: (index + 1) % 1_000, status };
  });

interface Turn extends Record<Size, ListRun> {
  /** Milliseconds of a loop of Queries that discards the items of the large store. */
  readonly bare: number;
}

const outputsSchema = v.object({ StockTableName: v.string() });

/** The whole list of a large store through the local host, beside a bare loop of Queries at the same engine, in turn. */
export async function benchHostListing(): Promise<Figure[]> {
  const engine = await startEmbeddedEngine(undefined);
  const host = await RunningHost.start(['--dynamodb', engine.endpoint.href, '--no-sample-data']);
  const client = bareClient(engine.endpoint);
  try {
    const outputs = await fetch(new URL(OUTPUTS_PATH, host.baseUrl));
    const { StockTableName: table } = v.parse(outputsSchema, await outputs.json());
    await fill(engine.endpoint, table, 'large');
    const ratios: number[] = [];
    for (let turn = 0; turn <= TURNS; turn++) {
      progress(`turn ${turn} of ${TURNS}`);
      const listed = await timeOf(() => listAll(host.baseUrl));
      ratios.push(listed / (await timeOf(() => queryAll(client, table))));
    }
    const what = `host: list of ${sizes.large.toLocaleString('en')} pets: time ÷ bare Query loop`;
    return [atMost(what, median(ratios.slice(1)), 1)];
  } finally {
    client.destroy();
    await host.stop();
    await engine.close();
  }
}

async function listAll(baseUrl: string): Promise<void> {
  const headers = { authorization: `Bearer ${demoKey('enterprise')}` };
  const { status, body } = await fetch(`${baseUrl}/inventory`, { headers });
  if (status !== 200 || body === null) throw new Error(`The list was answered ${status}`);
  for await (const _ of body) continue;
}

/**
 * The list function from its bundle, for stores of 1,000 to 100,000 pets, beside a bare loop of Queries that discards
 * the items. They take turns; each store has a process of its own, whose memory is read from the system at every chunk.
 */
export async function benchListing(): Promise<Figure[]> {
  const folder = bundleOf('list-inventory', 'parts');
  const engine = await startEmbeddedEngine(undefined);
  const tiny = await ListEnvironment.start(folder, engine.endpoint, 'tiny');
  const small = await ListEnvironment.start(folder, engine.endpoint, 'small');
  const large = await ListEnvironment.start(folder, engine.endpoint, 'large');
  const client = bareClient(engine.endpoint);
  const turns: Turn[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    progress(`turn ${turn} of ${TURNS}`);
    turns.push({
      large: await large.run(),
      bare: await timeOf(() => queryAll(client, large.table)),
      small: await small.run(),
      tiny: await tiny.run(),
    });
  }
  for (const environment of [tiny, small, large]) environment.close();
  await engine.close();
  return figures(turns.slice(1));
}

function figures(turns: readonly Turn[]): Figure[] {
  const most = sizes.large.toLocaleString('en');
  const some = sizes.small.toLocaleString('en');
  const few = sizes.tiny.toLocaleString('en');
  const ratio = (what: string, of: (turn: Turn) => number, limit: number): Figure =>
    atMost(what, median(turns.map(of)), limit);
  const memory = median(turns.map(({ large }) => large.memory));
  return [
    ratio(`list of ${most} pets: time ÷ bare Query loop`, ({ large, bare }) => large.total / bare, 1.5),
    ratio(`list: time for ${most} pets ÷ time for ${some}`, ({ large, small }) => large.total / small.total, 11),
    ratio(`list: time to first byte at ${most} ÷ at ${few}`, ({ large, tiny }) => large.first / tiny.first, 1.5),
    ratio(`list: peak memory at ${most} ÷ at ${few}`, ({ large, tiny }) => large.memory / tiny.memory, 1.5),
    report(`list: peak memory at ${most}`, memory / 1_000_000, ' MB'),
  ];
}

/** AWS's own client, as anyone would make it. */
export const bareClient = (engine: URL): DynamoDBClient =>
  new DynamoDBClient({ endpoint: engine.href, region: account.region, credentials: localCredentials });

/** Puts pets into a table. */
async function fill(engine: URL, table: string, size: Size): Promise<void> {
  progress(`filling a store with ${sizes[size]} pets`);
  const documents = documentsAt(engine);
  await writeItems(documents, table, manyPets(sizes[size]), stockItem);
  documents.destroy();
}

async function queryAll(client: DynamoDBClient, TableName: string): Promise<void> {
  const ofStore = { ':storeId': { S: STORE_ID } };
  const query = { TableName, KeyConditionExpression: 'storeId = :storeId', ExpressionAttributeValues: ofStore };
  for await (const _ of paginateQuery({ client }, query)) continue;
}

/** One list, from the invocation on. */
interface ListRun {
  /** Milliseconds until the first byte of the body, and until the last. */
  readonly first: number;
  readonly total: number;
  /** The most memory that the environment has had so far while it sent something, in bytes. */
  readonly memory: number;
}

/** What Lambda's Node.js runtime is to the function; plain JavaScript, so that it adds nothing to the memory. */
const environmentScript = `
  const { Writable } = require('node:stream');
  globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };
  const { handler } = require(process.argv[1]);
  let memory = 0;
  process.on('message', async (event) => {
    let first;
    const start = performance.now();
    const stream = new Writable({
      write(chunk, _, done) {
        if (chunk.length > 0) first ??= performance.now() - start;
        memory = Math.max(memory, process.memoryUsage.rss());
        done();
      },
    });
    await handler(event, stream, {});
    const total = performance.now() - start;
    process.send({ first, total, memory });
  });
`;

/** The list function from its bundle, in a process of its own, as an execution environment of Lambda is. */
class ListEnvironment {
  readonly table: string;
  readonly #process: ChildProcess;

  private constructor(bundleFolder: string, engine: URL, table: string) {
    this.table = table;
    const { accessKeyId, secretAccessKey } = localCredentials;
    this.#process = spawn(process.execPath, ['--eval', environmentScript, join(bundleFolder, 'function.cjs')], {
      env: {
        AWS_ENDPOINT_URL_DYNAMODB: engine.href,
        AWS_REGION: account.region,
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        STOCK_TABLE: table,
        METRICS_NAMESPACE: 'Bench',
        STACK_NAME: 'bench',
        NODE_OPTIONS: STREAMING_NODE_OPTIONS,
      },
      // Its lines about requests are not what the bench prints.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  /** Fills a store, and starts an environment for it. */
  static async start(bundleFolder: string, engine: URL, size: Size): Promise<ListEnvironment> {
    const documents = documentsAt(engine);
    const table = await createStockTable(documents);
    documents.destroy();
    await fill(engine, table, size);
    return new ListEnvironment(bundleFolder, engine, table);
  }

  async run(): Promise<ListRun> {
    const answer = once(this.#process, 'message');
    this.#process.send(aProxyEvent({ authorizer: admittedContext }));
    const [run]: ListRun[] = await answer;
    if (!run) throw new Error('The list function gave no answer');
    return run;
  }

  close(): void {
    this.#process.kill();
  }
}
