import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { bundleFunction } from '../../infra/stack/bundle.ts';
import { STREAMING_NODE_OPTIONS } from '../../infra/stack/operation-functions.ts';
import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';
import { engineClient, manyPets, pointSdkAt } from './engine-client.ts';
import { atMost, type Figure, median, report } from './figure.ts';

/** Turns that count; the first warms up and does not. */
const TURNS = 7;
/** The largest store takes its time, so it has fewer. */
const TURNS_OF_HUGE = 3;

const sizes = { tiny: 1_000, small: 10_000, large: 100_000, huge: 1_000_000 };
type Size = keyof typeof sizes;

/**
 * The list function from its bundle, for stores of 1,000 to 1,000,000 pets, beside a bare loop of Queries that discards
 * the items. They take turns; each store has a process of its own, whose memory is what the system says at every chunk.
 */
export async function benchListing(): Promise<Figure[]> {
  const folder = bundleFunction('list-inventory');
  const engine = await startEmbeddedEngine(undefined);
  pointSdkAt(engine.endpoint);
  const documents = engineClient(engine.endpoint);
  for (const [size, pets] of Object.entries(sizes)) await createStore(documents, size, pets);

  const environmentOf = (size: Size) => new ListEnvironment(folder, size, engine.endpoint);
  const environments = {
    tiny: environmentOf('tiny'),
    small: environmentOf('small'),
    large: environmentOf('large'),
    huge: environmentOf('huge'),
  };
  const bare = new DynamoDBClient({});
  const turns: Turn[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    turns.push({
      large: await environments.large.run(),
      bare: await timeOf(() => queryAll(bare, 'large')),
      small: await environments.small.run(),
      tiny: await environments.tiny.run(),
      ...(turn <= TURNS_OF_HUGE && { huge: await environments.huge.run() }),
    });
  }
  for (const environment of Object.values(environments)) environment.close();
  await engine.close();
  rmSync(folder, { recursive: true });
  return figures(turns.slice(1));
}

interface Turn extends Record<Exclude<Size, 'huge'>, ListRun> {
  readonly huge?: ListRun;
  /** Milliseconds. */
  readonly bare: number;
}

const perPet = (run: ListRun, size: Size): number => run.total / sizes[size];

function figures(turns: readonly Turn[]): Figure[] {
  const medianOf = (ratio: (turn: Turn) => number): number => median(turns.map(ratio));
  const medianOfHuge = (ratio: (huge: ListRun, turn: Turn) => number): number =>
    median(turns.flatMap((turn) => (turn.huge ? [ratio(turn.huge, turn)] : [])));
  return [
    atMost(
      `list of ${label('large')} pets: time ÷ bare Query loop`,
      medianOf(({ large, bare }) => large.total / bare),
      1.5,
    ),
    atMost(
      `list: time for ${label('large')} pets ÷ time for ${label('small')}`,
      medianOf(({ large, small }) => large.total / small.total),
      11,
    ),
    atMost(
      `list: time per pet at ${label('huge')} ÷ at ${label('large')}`,
      medianOfHuge((huge, { large }) => perPet(huge, 'huge') / perPet(large, 'large')),
      1,
    ),
    atMost(
      `list: time to first byte at ${label('huge')} ÷ at ${label('tiny')}`,
      medianOfHuge((huge, { tiny }) => huge.first / tiny.first),
      1.5,
    ),
    atMost(
      `list: peak memory at ${label('huge')} ÷ at ${label('tiny')}`,
      medianOfHuge((huge, { tiny }) => huge.memory / tiny.memory),
      1.5,
    ),
    report(
      `list: peak memory at ${label('huge')}`,
      medianOfHuge((huge) => huge.memory / 1_000_000),
      ' MB',
    ),
  ];
}

async function createStore(documents: DynamoDBDocumentClient, TableName: string, pets: number): Promise<void> {
  await documents.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'storeId', AttributeType: 'S' },
        { AttributeName: 'petId', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'storeId', KeyType: 'HASH' },
        { AttributeName: 'petId', KeyType: 'RANGE' },
      ],
    }),
  );
  await writeItems(documents, TableName, manyPets(pets), stockItem);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function queryAll(client: DynamoDBClient, TableName: string): Promise<void> {
  let page: QueryCommandOutput | undefined;
  do {
    page = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'storeId = :storeId',
        ExpressionAttributeValues: { ':storeId': { S: STORE_ID } },
        ...(page?.LastEvaluatedKey && { ExclusiveStartKey: page.LastEvaluatedKey }),
      }),
    );
  } while (page.LastEvaluatedKey);
}

const label = (size: Size): string => sizes[size].toLocaleString('en');

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
  readonly #process: ChildProcess;

  constructor(bundleFolder: string, table: string, engine: URL) {
    this.#process = spawn(process.execPath, ['--eval', environmentScript, join(bundleFolder, 'function.cjs')], {
      env: {
        AWS_ENDPOINT_URL_DYNAMODB: engine.href,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
        STOCK_TABLE: table,
        METRICS_NAMESPACE: 'Bench',
        STACK_NAME: 'bench',
        NODE_OPTIONS: STREAMING_NODE_OPTIONS,
      },
      // Its lines about requests are not what the bench prints.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
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
