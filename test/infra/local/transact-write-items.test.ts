import { randomUUID } from 'node:crypto';
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { tableResource } from '../../support/tables.ts';

let client: DynamoDBClient;
let requests: string;
let stock: string;

const Key = { petId: { S: '1' } };

/** Records a request unless it is recorded already. */
const request = (requestId: string): TransactWriteItem => ({
  Put: {
    TableName: requests,
    Item: { requestId: { S: requestId } },
    ConditionExpression: 'attribute_not_exists(requestId)',
  },
});

/** Adds to numbers of the entry, without a condition. */
const adding = (UpdateExpression: string, TableName = stock) => ({
  TableName,
  Key,
  UpdateExpression,
  ExpressionAttributeValues: { ':one': { N: '1' } },
});

const send = (...TransactItems: TransactWriteItem[]) => client.send(new TransactWriteItemsCommand({ TransactItems }));
const stored = async (TableName: string, key: object) =>
  (await client.send(new GetItemCommand({ TableName, Key: { ...key } }))).Item;

// The tests of updates with an Idempotency-Key cover the effects of a transaction and its cancellation reasons.
describeOnEachEngine('a transaction', () => {
  beforeEach(async () => {
    client = new DynamoDBClient({ maxAttempts: 1 });
    requests = `requests-${randomUUID()}`;
    stock = `stock-${randomUUID()}`;
    await createTables(client, [tableResource(stock, { petId: 'S' }), tableResource(requests, { requestId: 'S' })]);
    await client.send(new PutItemCommand({ TableName: stock, Item: { ...Key, quantity: { N: '5' } } }));
  });

  afterEach(() => client.destroy());

  test('and concurrent updates to one item do not overwrite each other', async () => {
    const rounds = Array.from({ length: 20 }, (_, round) => String(round));
    const Update = adding('ADD quantity :one, transactions :one');
    const transactions = Promise.allSettled(rounds.map((round) => send(request(round), { Update })));
    await Promise.all(rounds.map(() => client.send(new UpdateItemCommand(adding('ADD quantity :one, updates :one')))));
    const done = (await transactions).filter(({ status }) => status === 'fulfilled').length;

    expect(done).toBeGreaterThan(0);
    expect(await stored(stock, Key)).toEqual({
      ...Key,
      quantity: { N: String(5 + done + rounds.length) },
      transactions: { N: String(done) },
      updates: { N: String(rounds.length) },
    });
  });

  test('updates the indexes of its table unless it is canceled', async () => {
    const TableName = `indexed-${randomUUID()}`;
    const ofPet = tableResource(TableName, { petId: 'S', kind: 'S' });
    const Projection = { ProjectionType: 'KEYS_ONLY' } as const;
    const [petKey, kindKey] = [{ petId: 'S' }, { kind: 'S' }] as const;
    const byKind = { IndexName: 'byKind', KeySchema: tableResource('', kindKey).KeySchema, Projection };
    await createTables(client, [
      { ...ofPet, KeySchema: tableResource('', petKey).KeySchema, GlobalSecondaryIndexes: [byKind] },
    ]);
    const put = (kind: string) => send({ Put: { TableName, Item: { ...Key, kind: { S: kind }, more: { S: 'x' } } } });
    const ofKind = async (kind: string) => {
      const IndexName = byKind.IndexName;
      const ExpressionAttributeValues = { ':kind': { S: kind } };
      const KeyConditionExpression = 'kind = :kind';
      const query = { TableName, IndexName, KeyConditionExpression, ExpressionAttributeValues };
      return (await client.send(new QueryCommand(query))).Items;
    };
    await put('cat');

    expect(await ofKind('cat')).toEqual([{ ...Key, kind: { S: 'cat' } }]);
    await put('dog');
    const Put = { TableName, Item: { ...Key, kind: { S: 'bird' } } };
    await send(request('once'));
    await expect(send({ Put }, request('once'))).rejects.toMatchObject({ name: 'TransactionCanceledException' });

    expect(await ofKind('bird')).toEqual([]);
    expect([await ofKind('cat'), await ofKind('dog')]).toEqual([[], [{ ...Key, kind: { S: 'dog' } }]]);
  });

  test.each<[string, string, () => TransactWriteItem]>([
    [
      'two actions on one item',
      'ValidationException',
      () => ({ Update: { ...adding('ADD a :one', requests), Key: { requestId: { S: 'request' } } } }),
    ],
    ['a bad expression', 'ValidationException', () => ({ Update: adding('ADD a') })],
    ['a missing table', 'ResourceNotFoundException', () => ({ Update: adding('ADD a :one', 'missing') })],
  ])('with %s fails and writes nothing', async (_, name, action) => {
    await expect(send(request('request'), action())).rejects.toMatchObject({ name });
    expect(await stored(requests, { requestId: { S: 'request' } })).toBeUndefined();
  });
});
