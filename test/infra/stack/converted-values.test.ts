import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from '@jest/globals';
import { isUnavailable } from '../../../shared/dynamodb.ts';
import { clientOfFunctions, describeOnEachEngine, testClient } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { json, ScriptedDynamoDB } from '../../support/scripted-dynamodb.ts';
import { createStockTable } from '../../support/tables.ts';

acceptForeignErrors();

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

const server = new ScriptedDynamoDB(json(200, {}));

test.each([
  ['binary values', { petId: Buffer.from('42') }, 'no binary values'],
  ['undefined values within others', { petId: 42, tags: [undefined] }, 'remove undefined values'],
])('The minimal DynamoDB client refuses %s before it sends a request', async (_, Key, message) => {
  const failure = await failureOf(clientOfFunctions({}).send(new UpdateCommand({ TableName: 'pets', Key })));

  expect(failure).toMatchObject({ message: expect.stringContaining(message) });
  expect(isUnavailable(failure)).toBe(false);
  expect(server.calls).toEqual([]);
});

const int64 = 2n ** 63n - 1n;
const values = { int64, name: '', none: null, left: undefined, tags: new Set(['a']), map: { list: [1.5, true] } };
const attributes = {
  int64: { N: `${int64}` },
  none: { NULL: true },
  set: { NS: ['1'] },
  map: { M: { list: { L: [] } } },
};

/** A call of each operation, whose tables have names of members, and the output of DynamoDB. */
const exchanges: readonly [string, (client: DynamoDBDocumentClient) => Promise<object>, object][] = [
  ['Get', (client) => client.send(new GetCommand({ TableName: 'Key', Key: values })), { Item: attributes }],
  [
    'BatchGet',
    (client) =>
      client.send(new BatchGetCommand({ RequestItems: { a: { Keys: [values, values] }, Keys: { Keys: [values] } } })),
    {
      Responses: { a: [attributes], Keys: [] },
      UnprocessedKeys: { Keys: { Keys: [attributes], ConsistentRead: true } },
    },
  ],
  [
    'Query',
    (client) =>
      client.send(new QueryCommand({ TableName: 'a', ExpressionAttributeValues: values, ExclusiveStartKey: values })),
    { Items: [attributes, {}], Count: 2, LastEvaluatedKey: attributes },
  ],
  [
    'Update',
    (client) => client.send(new UpdateCommand({ TableName: 'a', Key: values, ExpressionAttributeValues: values })),
    { Attributes: attributes },
  ],
  [
    'TransactWrite',
    (client) => {
      const Put = { TableName: 'a', Item: values, ExpressionAttributeValues: values };
      const Update = { TableName: 'Item', Key: values, UpdateExpression: 'x', ExpressionAttributeValues: values };
      return client.send(new TransactWriteCommand({ TransactItems: [{ Put }, { Update }], ClientRequestToken: 'b' }));
    },
    {},
  ],
];

test.each(exchanges)('The minimal DynamoDB client converts values of a %s as the SDK does', async (_, send, output) => {
  server.responses = [json(200, output), json(200, output)];
  const ours = await send(clientOfFunctions({}));
  const theirs = await send(testClient());
  const [call, whole] = server.calls.map(({ headers, body }) => [headers['x-amz-target'], JSON.parse(body)]);

  expect(theirs).toEqual({ $metadata: expect.anything(), ...ours });
  expect(call).toEqual(whole);
});

describeOnEachEngine('The minimal DynamoDB client', (newPatientClient) => {
  const Key = { storeId: 'main', petId: 9_223_372_036_854_775_807n };
  let client: DynamoDBDocumentClient;
  let TableName: string;

  beforeAll(async () => {
    TableName = await createStockTable(testClient());
    client = newPatientClient();
  });

  const setting = (quantity: number) => ({
    TableName,
    Key,
    UpdateExpression: 'SET quantity = :quantity',
    ExpressionAttributeValues: { ':quantity': quantity },
  });

  test('makes each of its calls', async () => {
    await client.send(new UpdateCommand(setting(4)));
    await client.send(new TransactWriteCommand({ TransactItems: [{ Update: setting(5) }] }));
    const item = { storeId: 'main', petId: { value: '9223372036854775807' }, quantity: { value: '5' } };
    const query = { KeyConditionExpression: 'storeId = :main', ExpressionAttributeValues: { ':main': 'main' } };

    expect(await client.send(new GetCommand({ TableName, Key }))).toMatchObject({ Item: item });
    expect(await client.send(new QueryCommand({ TableName, ...query }))).toMatchObject({ Items: [item] });
    expect(await client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key] } } }))).toMatchObject({
      Responses: { [TableName]: [item] },
    });
  });

  test('returns failed conditions and cancellation reasons with items as attribute values', async () => {
    await client.send(new UpdateCommand(setting(5)));
    const ReturnValuesOnConditionCheckFailure = 'ALL_OLD' as const;
    const refused = { ...setting(6), ConditionExpression: 'quantity > :quantity', ReturnValuesOnConditionCheckFailure };
    const conflict = await failureOf(client.send(new UpdateCommand(refused)));
    const canceled = await failureOf(client.send(new TransactWriteCommand({ TransactItems: [{ Update: refused }] })));
    const Item = { storeId: { S: 'main' }, petId: { N: '9223372036854775807' }, quantity: { N: '5' } };

    expect(conflict).toBeInstanceOf(ConditionalCheckFailedException);
    expect(conflict).toMatchObject({ message: 'The conditional request failed', Item });
    expect(canceled).toBeInstanceOf(TransactionCanceledException);
    expect(canceled).toMatchObject({
      message: expect.stringContaining('[ConditionalCheckFailed]'),
      CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item }],
    });
  });
});
