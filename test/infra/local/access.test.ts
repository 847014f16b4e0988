import {
  BatchGetItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { account, arn, localCredentials as credentials } from '../../../infra/local-endpoint.ts';
import { tableResource } from '../../support/tables.ts';

let engine: Engine;
let client: DynamoDBClient;

const clientAt = (endpoint: URL) =>
  new DynamoDBClient({ endpoint: endpoint.href, region: account.region, credentials, maxAttempts: 1 });

beforeAll(async () => {
  engine = await startEmbeddedEngine(undefined);
  const host = clientAt(engine.endpoint);
  await createTables(host, [tableResource('stock', { id: 'S' }), tableResource('requests', { id: 'S' })]);
  host.destroy();
  const allowed = [
    { actions: ['dynamodb:UpdateItem'], resources: [arn('dynamodb', 'table/stock')] },
    { actions: ['dynamodb:Put*'], resources: ['*'] },
    { actions: ['dynamodb:Query'], resources: [arn('dynamodb', 'table/stock')] },
  ];
  client = clientAt(engine.endpointFor('update', allowed));
});

afterAll(async () => {
  client.destroy();
  await engine.close();
});

const Key = { id: { S: '1' } };
const update = {
  TableName: 'stock',
  Key,
  UpdateExpression: 'SET a = :one',
  ExpressionAttributeValues: { ':one': { N: '1' } },
};
const put = { TableName: 'requests', Item: Key };
const ofOther = { ...update, TableName: 'requests' };

test('a function may make each call that its role grants, also in a transaction', async () => {
  await client.send(new UpdateItemCommand(update));
  await client.send(new PutItemCommand(put));

  expect(
    await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: put }, { Update: update }] })),
  ).toBeDefined();
});

test.each<[string, () => Promise<unknown>, string]>([
  [
    'an action',
    () => client.send(new BatchGetItemCommand({ RequestItems: { stock: { Keys: [Key] } } })),
    'BatchGetItem on table/stock',
  ],
  [
    'an index',
    () => client.send(new QueryCommand({ TableName: 'stock', IndexName: 'byOwner' })),
    'Query on table/stock/index/byOwner',
  ],
  ['a table', () => client.send(new UpdateItemCommand(ofOther)), 'UpdateItem on table/requests'],
  [
    'a write in a transaction',
    () => client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: put }, { Update: ofOther }] })),
    'UpdateItem on table/requests',
  ],
])('a function is denied %s that its role does not grant', async (_, call, refused) => {
  const message = expect.stringContaining(`dynamodb:${refused.replace('table/', arn('dynamodb', 'table/'))}`);

  await expect(call()).rejects.toMatchObject({ name: 'AccessDeniedException', message });
});
