import { join } from 'node:path';
import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { account, localCredentials } from '../../infra/local-endpoint.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleOf } from '../../infra/stack/bundle.ts';
import { STREAMING_NODE_OPTIONS } from '../../infra/stack/operation-functions.ts';
import { writeItems } from '../../infra/write-items.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { petStatuses } from '../../shared/contract/records.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { int64 } from '../support/int64.ts';
import { documentsAt } from '../support/local-host.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';
import { createStockTable } from '../support/tables.ts';
import { type Call, ExecutionEnvironment } from './execution-environment.ts';
import { atMost, type Figure, median, progress, report, timeOf } from './figure.ts';

/** Turns that count; the first warms up and does not. */
const TURNS = 7;

const sizes = { small: 1_000, large: 100_000 };

/** Stock of `count` pets, petId 1 and up, of all statuses. */
export const manyPets = (count: number): InventoryItem[] =>
  Array.from({ length: count }, (_, index) => {
    const status = petStatuses[(index + 1) % petStatuses.length] ?? 'available';
    return { petId: int64(String(index + 1)), quantity: (index + 1) % 1_000, status };
  });

interface Turn extends Record<keyof typeof sizes, Call> {
  /** Milliseconds of a loop of Queries that discards the items of the large store. */
  readonly bare: number;
}

/**
 * The list function from its bundle, for stores of 1,000 and of 100,000 pets, beside a bare loop of Queries that
 * discards the items. They take turns; each store has a process of its own, whose memory is read at every chunk.
 */
export async function benchListing(): Promise<Figure[]> {
  const engine = await startEmbeddedEngine(undefined);
  const { endpoint } = engine;
  const small = await listOf(endpoint, sizes.small);
  const large = await listOf(endpoint, sizes.large);
  const client = bareClient(endpoint);
  const turns: Turn[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    progress(`turn ${turn} of ${TURNS}`);
    turns.push({
      large: await large.environment.call(),
      bare: await timeOf(() => queryAll(client, large.table)),
      small: await small.environment.call(),
    });
  }
  for (const { environment } of [small, large]) await environment.close();
  await engine.close();
  return figures(turns.slice(1));
}

function figures(turns: readonly Turn[]): Figure[] {
  const [few, most] = Object.values(sizes).map((size) => size.toLocaleString('en'));
  const ratio = (what: string, of: (turn: Turn) => number): Figure => atMost(what, median(turns.map(of)), 1.5);
  const memory = median(turns.map(({ large }) => large.memory));
  return [
    ratio(`list of ${most} pets: time ÷ bare Query loop`, ({ large, bare }) => large.total / bare),
    ratio(`list: time to first byte at ${most} ÷ at ${few}`, ({ large, small }) => large.first / small.first),
    ratio(`list: peak memory at ${most} ÷ at ${few}`, ({ large, small }) => large.memory / small.memory),
    report(`list: peak memory at ${most}`, memory / 1_000_000, ' MB'),
  ];
}

/** AWS's own client, as anyone would make it. */
const bareClient = (engine: URL): DynamoDBClient =>
  new DynamoDBClient({ endpoint: engine.href, region: account.region, credentials: localCredentials });

/** Fills a store, and starts the list function for it. */
async function listOf(engine: URL, size: number) {
  progress(`filling a store with ${size} pets`);
  const documents = documentsAt(engine);
  const table = await createStockTable(documents);
  await writeItems(documents, table, manyPets(size), stockItem);
  documents.destroy();
  const file = join(bundleOf('list-inventory'), 'index.mjs');
  const list = { file, event: aProxyEvent({ authorizer: admittedContext }), streams: true, status: 200 };
  const env = { STOCK_TABLE: table, NODE_OPTIONS: STREAMING_NODE_OPTIONS };
  return { table, environment: await ExecutionEnvironment.start(list, engine, env) };
}

async function queryAll(client: DynamoDBClient, TableName: string): Promise<void> {
  const ofStore = { ':storeId': { S: STORE_ID } };
  const query = { TableName, KeyConditionExpression: 'storeId = :storeId', ExpressionAttributeValues: ofStore };
  for await (const _ of paginateQuery({ client }, query)) continue;
}
