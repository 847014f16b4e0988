import { rmSync } from 'node:fs';
import { CreateTableCommand, DynamoDBClient, QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { bundleFunction } from '../../infra/stack/bundle.ts';
import { writeStock } from '../../infra/write-stock.ts';
import { STORE_ID } from '../../shared/stock-store.ts';
import { aProxyEvent } from '../support/proxy-event.ts';
import { engineClient, manyPets, pointSdkAt } from './engine-client.ts';
import { atMost, type Figure, median } from './figure.ts';

const RUNS = 9;
const SMALL = 10_000;
const LARGE = 10 * SMALL;

/**
 * Time of the list function, from its bundle in an execution environment, for a store of 10,000 and one of 100,000
 * pets, beside a bare loop of the same Queries that discards the items. The three take turns.
 */
export async function benchListing(): Promise<Figure[]> {
  const folder = bundleFunction('list-inventory');
  const engine = await startEmbeddedEngine(undefined);
  pointSdkAt(engine.endpoint);
  const documents = engineClient(engine.endpoint);
  const [small, large] = [`pets-${SMALL}`, `pets-${LARGE}`];
  await createStore(documents, small, SMALL);
  await createStore(documents, large, LARGE);

  const listSmall = listFunction(folder, small, engine.endpoint);
  const listLarge = listFunction(folder, large, engine.endpoint);
  const bare = new DynamoDBClient({});
  const times = await timesInTurn([() => list(listLarge), () => queryAll(bare, large), () => list(listSmall)]);
  await Promise.all([listSmall.close(), listLarge.close()]);
  await engine.close();
  rmSync(folder, { recursive: true });
  const ratios = (of: number): number => median(times.map((turn) => (turn[0] ?? 0) / (turn[of] ?? 0)));
  return [
    atMost(`list of ${label(LARGE)} pets: time ÷ bare Query loop`, ratios(1), 1.5),
    atMost(`list: time for ${label(LARGE)} pets ÷ time for ${label(SMALL)}`, ratios(2), 11),
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
  await writeStock(documents, TableName, manyPets(pets));
}

function listFunction(codeFolder: string, table: string, endpoint: URL): LambdaFunction {
  return new LambdaFunction(
    {
      codeFolder,
      handler: 'index.handler',
      functionName: 'list-inventory',
      functionArn: 'list-inventory',
      memoryMegabytes: 1024,
      timeoutSeconds: 60,
      logGroupName: 'bench',
      variables: { STOCK_TABLE: table, AWS_ENDPOINT_URL_DYNAMODB: endpoint.href },
    },
    (text) => process.stderr.write(text),
  );
}

async function list(lambda: LambdaFunction): Promise<void> {
  const payload = await lambda.invoke(JSON.stringify(aProxyEvent()));
  if (!payload.startsWith('{"statusCode":200,')) throw new Error(`The list function answered ${payload.slice(0, 200)}`);
}

type Work = () => Promise<void>;

/** The times of each work in each turn. The first turn warms up and does not count. */
async function timesInTurn(works: readonly Work[]): Promise<number[][]> {
  const turns: number[][] = [];
  for (let turn = 0; turn <= RUNS; turn++) {
    const times: number[] = [];
    for (const work of works) times.push(await timeOf(work));
    turns.push(times);
  }
  return turns.slice(1);
}

async function timeOf(work: Work): Promise<number> {
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

const label = (count: number): string => count.toLocaleString('en');
