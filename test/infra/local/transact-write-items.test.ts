import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type TransactionCanceledException,
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
let stock: { TableName: string; Key: Record<string, AttributeValue> };

const stockOf = (quantity: number) => ({ ...stock.Key, quantity: { N: String(quantity) } });

/** Records a request, unless it is there. */
function request(requestId: string): TransactWriteItem {
  const ConditionExpression = 'attribute_not_exists(requestId)';
  const ReturnValuesOnConditionCheckFailure = 'ALL_OLD';
  const Item = { requestId: { S: requestId } };
  return { Put: { TableName: requests, Item, ConditionExpression, ReturnValuesOnConditionCheckFailure } };
}

/** Adds to numbers of an item, without a condition. */
const adding = (UpdateExpression: string, item = stock) => ({
  ...item,
  UpdateExpression,
  ExpressionAttributeValues: { ':one': { N: '1' } },
});

/** Sets the quantity, if it is `expected` now. */
function setting(expected: number, quantity: number, more: object = {}): TransactWriteItem {
  const ExpressionAttributeValues = { ':value': { N: String(quantity) }, ':expected': { N: String(expected) } };
  const UpdateExpression = 'SET quantity = :value';
  const ConditionExpression = 'quantity = :expected';
  return { Update: { ...stock, UpdateExpression, ConditionExpression, ExpressionAttributeValues, ...more } };
}

const send = (actions: TransactWriteItem[], ClientRequestToken?: string) =>
  client.send(new TransactWriteItemsCommand({ TransactItems: actions, ClientRequestToken }));

/** Why a transaction was not made; undefined where it was. */
const failure = (...call: Parameters<typeof send>): Promise<unknown> =>
  send(...call).then(
    () => undefined,
    ({ name, message, CancellationReasons: reasons = [] }: TransactionCanceledException) => ({
      name,
      message,
      reasons,
    }),
  );

const stored = async (key: typeof stock) => (await client.send(new GetItemCommand(key))).Item;
const requestKey = (requestId: string) => ({ TableName: requests, Key: { requestId: { S: requestId } } });
const recorded = (requestId: string) => stored(requestKey(requestId));

const failed = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };

const cancelled = (...reasons: object[]) => ({
  name: 'TransactionCanceledException',
  message:
    'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]',
  reasons: [{ Code: 'None' }, ...reasons],
});

describeOnEachEngine('A transaction', () => {
  beforeEach(async () => {
    client = new DynamoDBClient({ maxAttempts: 1 });
    requests = `requests-${randomUUID()}`;
    stock = { TableName: `stock-${randomUUID()}`, Key: { petId: { S: '1' } } };
    await createTables(client, [
      tableResource(stock.TableName, { petId: 'S' }),
      tableResource(requests, { requestId: 'S' }),
    ]);
    await client.send(new PutItemCommand({ TableName: stock.TableName, Item: stockOf(5) }));
  });

  afterEach(() => client.destroy());

  test('makes its writes in all tables', async () => {
    await send([request('request'), setting(5, 7)]);

    expect(await recorded('request')).toBeDefined();
    expect(await stored(stock)).toEqual(stockOf(7));
  });

  test('makes none of them where a condition fails, and reports which, with the old item if asked to', async () => {
    await send([request('request')]);

    expect(await failure([setting(5, 6), request('request')])).toEqual(
      cancelled({ ...failed, Item: { requestId: { S: 'request' } } }),
    );
    expect(await failure([request('other'), setting(4, 6)])).toEqual(cancelled(failed));
    expect(await recorded('other')).toBeUndefined();
    expect(await stored(stock)).toEqual(stockOf(5));
  });

  test('loses no write that others make to its items at the same time, nor they its own', async () => {
    const rounds = Array.from({ length: 20 }, (_, round) => String(round));
    const addition = { Update: adding('ADD quantity :one, transactions :one') };
    const transactions = rounds.map((round) => failure([request(round), addition]));
    await Promise.all(rounds.map(() => client.send(new UpdateItemCommand(adding('ADD quantity :one, updates :one')))));
    const done = (await Promise.all(transactions)).filter((reason) => reason === undefined).length;

    expect(done).toBeGreaterThan(0);
    expect(await stored(stock)).toEqual({
      ...stockOf(5 + done + rounds.length),
      transactions: { N: String(done) },
      updates: { N: String(rounds.length) },
    });
  });

  test.each<[string, string, () => TransactWriteItem]>([
    ['a bad expression', 'ValidationException', () => setting(5, 6, { ConditionExpression: 'a a' })],
    ['a table that is not there', 'ResourceNotFoundException', () => setting(5, 6, { TableName: 'missing' })],
  ])('is refused with %s', async (_, name, action) => {
    expect(await failure([request('request'), action()])).toMatchObject({ name, reasons: [] });
    expect(await recorded('request')).toBeUndefined();
  });
});
