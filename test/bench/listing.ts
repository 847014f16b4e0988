import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { localClient } from '../../infra/local-endpoint.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleFunctions } from '../../infra/stack/bundle.ts';
import { STREAMING_NODE_OPTIONS } from '../../infra/stack/operation-functions.ts';
import { writeItems } from '../../infra/local/dynamodb/tables.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { petStatuses } from '../../shared/contract/records.ts';
import { stockItem, STORE_ID } from '../../shared/stores/stock-store.ts';
import { int64 } from '../support/int64.ts';
import { documentsAt } from '../support/local-host.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';
import { createStockTable } from '../support/tables.ts';
import { type Call, ExecutionEnvironment } from './execution-environment.ts';
import { atMost, type Figure, format, median, progress, report, type Size, timeOf } from './figure.ts';

/** Turns that count; the first warms up and does not. The pets of the two stores. */
const SIZES = { whole: { turns: 7, few: 1_000, many: 100_000 }, small: { turns: 1, few: 10, many: 1_000 } };

/** Stock of `count` pets, petId 1 and up, of all statuses. */
export const manyPets = (count: number): InventoryItem[] =>
  Array.from({ length: count }, (_, index) => {
    const status = petStatuses[(index + 1) % petStatuses.length] ?? 'available';
    return { petId: int64(String(index + 1)), quantity: (index + 1) % 1_000, status };
  });

const LIST = 'list-inventory';

interface Turn {
  readonly small: Call;
  readonly large: Call;
  /** Milliseconds of a loop of Queries that discards the items of the large store. */
  readonly bare: number;
}

/**
 * The list function from its bundle, for a small and a large store, beside a bare loop of Queries that discards the
 * items. They take turns; each store has a process of its own, whose memory is read from the system at every chunk.
 */
export async function benchListing(size: Size): Promise<Figure[]> {
  const { turns: count, few, many } = SIZES[size];
  const engine = await startEmbeddedEngine(undefined);
  const bundles = mkdtempSync(join(tmpdir(), 'bench-listing-'));
  process.once('exit', () => rmSync(bundles, { recursive: true }));
  bundleFunctions(bundles, [LIST]);
  const file = join(bundles, LIST, 'index.mjs');
  const small = await listOf(file, engine.endpoint, few);
  const large = await listOf(file, engine.endpoint, many);
  const client = bareClient(engine.endpoint);
  const turns: Turn[] = [];
  for (let turn = 0; turn <= count; turn++) {
    progress(`turn ${turn} of ${count}`);
    turns.push({
      large: await large.environment.call(),
      bare: await timeOf(() => queryAll(client, large.table)),
      small: await small.environment.call(),
    });
  }
  for (const { environment } of [small, large]) await environment.close();
  client.destroy();
  await engine.close();
  return figures(turns.slice(1), format(few), format(many));
}

function figures(turns: readonly Turn[], few: string, many: string): Figure[] {
  const ratio = (what: string, of: (turn: Turn) => number): Figure => atMost(what, median(turns.map(of)), 1.5);
  const memory = median(turns.map(({ large }) => large.memory));
  return [
    ratio(`list of ${many} pets: time ÷ bare Query loop`, ({ large, bare }) => large.total / bare),
    ratio(`list: time to first byte at ${many} ÷ at ${few}`, ({ large, small }) => large.first / small.first),
    ratio(`list: peak memory at ${many} ÷ at ${few}`, ({ large, small }) => large.memory / small.memory),
    report(`list: peak memory at ${many}`, memory / 1_000_000, ' MB'),
  ];
}

/** AWS's own client, as anyone would make it. */
const bareClient = (engine: URL): DynamoDBClient => new DynamoDBClient({ ...localClient, endpoint: engine.href });

/** Fills a store, and starts the list function for it. */
async function listOf(file: string, engine: URL, size: number) {
  progress(`filling a store with ${size} pets`);
  const documents = documentsAt(engine);
  const table = await createStockTable(documents);
  await writeItems(documents, table, manyPets(size), stockItem);
  documents.destroy();
  const list = { file, event: aProxyEvent({ authorizer: admittedContext }), streams: true, status: 200 };
  const env = { STOCK_TABLE: table, NODE_OPTIONS: STREAMING_NODE_OPTIONS };
  return { table, environment: await ExecutionEnvironment.start(list, engine, env) };
}

async function queryAll(client: DynamoDBClient, TableName: string): Promise<void> {
  const ofStore = { ':storeId': { S: STORE_ID } };
  const query = { TableName, KeyConditionExpression: 'storeId = :storeId', ExpressionAttributeValues: ofStore };
  for await (const _ of paginateQuery({ client }, query)) continue;
}
