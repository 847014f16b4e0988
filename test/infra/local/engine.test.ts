import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Level } from 'level';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { createEngineServer } from '../../../infra/local/dynamodb/engine-server.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { iamDenial } from '../../../infra/local/iam.ts';
import { arn } from '../../../infra/local-endpoint.ts';
import { describeOnEachEngine, localEndpoint, pointSdkAt, testClient } from '../../support/engines.ts';
import { close, engineAt, listen } from '../../support/listening.ts';
import { createPetsTable, createRequestsTable, createStockTable, tableResource } from '../../support/tables.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const root = temporaryDirectory();

/** Does something with a client of an engine, and stops the engine. */
async function withEngine<Result>(
  engine: Engine,
  act: (client: DynamoDBDocumentClient) => Promise<Result>,
  endpoint = engine.endpoint,
): Promise<Result> {
  pointSdkAt(endpoint);
  const client = testClient();
  try {
    return await act(client);
  } finally {
    client.destroy();
    await engine.close();
  }
}

describe('a function', () => {
  const grants = [
    { actions: ['dynamodb:UpdateItem', 'dynamodb:Query'], resources: [arn('dynamodb', 'table/stock')] },
    { actions: ['dynamodb:Put*'], resources: ['*'] },
  ];
  const [stock, requests] = [{ TableName: 'stock' }, { TableName: 'requests' }];
  const putAnd = (Update: object) => ({ TransactItems: [{ Put: requests }, { Update }] });

  test.each<[operation: string, call: object, refused: string | undefined]>([
    ['UpdateItem', stock, undefined],
    ['PutItem', requests, undefined],
    ['TransactWriteItems', putAnd(stock), undefined],
    ['BatchGetItem', { RequestItems: { stock: {} } }, 'BatchGetItem on table/stock'],
    ['UpdateItem', requests, 'UpdateItem on table/requests'],
    ['TransactWriteItems', putAnd(requests), 'UpdateItem on table/requests'],
  ])('may make the calls that its role grants: of %s %j is refused %s', (operation, call, refused) => {
    const reason = refused && `dynamodb:${refused.replace('table/', arn('dynamodb', 'table/'))}`;

    expect(iamDenial(grants, operation, JSON.stringify(call))?.replace(/^.* perform: /, '')).toBe(reason);
  });

  test('is denied other calls by the engine', async () => {
    const engine = await startEmbeddedEngine(undefined);
    const denied = withEngine(
      engine,
      (client) => client.send(new GetCommand({ ...stock, Key: { petId: 1 } })),
      engine.endpointFor('update', grants),
    );

    await expect(denied).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringMatching('dynamodb:GetItem'),
    });
  });
});

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

// The tests of updates with an Idempotency-Key cover the effects of a transaction and its cancellation reasons.
describeOnEachEngine('a transaction', () => {
  let client: DynamoDBDocumentClient;
  let requests: string;
  let stock: string;
  const Key = { petId: 1 };

  beforeEach(async () => {
    client = testClient();
    [requests, stock] = await Promise.all([createRequestsTable(client), createPetsTable(client)]);
  });

  const request = (requestId: string): Action => ({
    Put: { TableName: requests, Item: { requestId }, ConditionExpression: 'attribute_not_exists(requestId)' },
  });
  /** Adds to numbers of the entry, without a condition. */
  const adding = (UpdateExpression: string, TableName = stock) => ({
    TableName,
    Key,
    UpdateExpression,
    ExpressionAttributeValues: { ':one': 1 },
  });
  const send = (...TransactItems: Action[]) => client.send(new TransactWriteCommand({ TransactItems }));

  test('and concurrent updates to one item do not overwrite each other', async () => {
    const rounds = Array.from({ length: 20 }, (_, round) => String(round));
    const Update = adding('ADD quantity :one, transactions :one');
    const transactions = Promise.allSettled(rounds.map((round) => send(request(round), { Update })));
    await Promise.all(rounds.map(() => client.send(new UpdateCommand(adding('ADD quantity :one, updates :one')))));
    const done = (await transactions).filter(({ status }) => status === 'fulfilled').length;
    const { Item } = await client.send(new GetCommand({ TableName: stock, Key }));

    expect(done).toBeGreaterThan(0);
    expect(Item).toMatchObject({
      quantity: { value: String(done + rounds.length) },
      transactions: { value: String(done) },
      updates: { value: String(rounds.length) },
    });
  });

  test.each<[string, string, () => Action]>([
    [
      'two actions on one item',
      'ValidationException',
      () => ({ Update: { ...adding('ADD a :one', requests), Key: { requestId: 'request' } } }),
    ],
    ['a bad expression', 'ValidationException', () => ({ Update: adding('ADD a') })],
    ['a missing table', 'ResourceNotFoundException', () => ({ Update: adding('ADD a :one', 'missing') })],
  ])('with %s fails and writes nothing', async (_, name, action) => {
    await expect(send(request('request'), action())).rejects.toMatchObject({ name });
    expect(
      await client.send(new GetCommand({ TableName: requests, Key: { requestId: 'request' } })),
    ).not.toHaveProperty('Item');
  });
});

test('a query closes its store iterator', async () => {
  const opened = jest.spyOn(Level.prototype, 'values');
  const callers = new Map([['/', [{ actions: ['*'], resources: ['*'] }]]]);
  const server = await createEngineServer({ directory: path.join(root, 'queried'), mustExist: false, callers });
  const engine = { ...engineAt(localEndpoint(await listen(server))), close: () => close(server) };
  await withEngine(engine, async (client) => {
    const query = { KeyConditionExpression: 'storeId = :one', ExpressionAttributeValues: { ':one': '1' } };
    await client.send(new QueryCommand({ TableName: await createStockTable(client), ...query }));
    const [result] = opened.mock.results;

    expect(opened).toHaveBeenCalledTimes(1);
    await expect(Object(result?.value).next()).rejects.toThrow('Iterator is not open');
  });
  opened.mockRestore();
});

const tableNames = async (client: DynamoDBDocumentClient) => (await client.send(new ListTablesCommand({}))).TableNames;

describe('tables in a data directory', () => {
  const stock = tableResource('stock', { storeId: 'S', petId: 'N' });
  const orders = tableResource('orders', { storeId: 'S', orderId: 'N' });

  test('are created again if a server was killed while it created them', async () => {
    const directory = path.join(root, 'killed');
    await withEngine(await startEmbeddedEngine(directory), (client) => createTables(client, [stock, orders]));
    const store = new Level<string, object>(path.join(directory, 'dynamodb'), { valueEncoding: 'json' });
    await store.put('table~stock', { ...(await store.get('table~stock')), TableStatus: 'CREATING' });
    await store.close();

    await withEngine(await startEmbeddedEngine(directory), async (client) => {
      expect(await tableNames(client)).toEqual(['orders']);
      await createTables(client, [stock, orders]);
      expect(await tableNames(client)).toEqual(['orders', 'stock']);
    });
  });

  test.each([
    ['has no CURRENT', (store: string) => rmSync(`${store}/CURRENT`), 'does not exist'],
    ['points nowhere', (store: string) => writeFileSync(`${store}/CURRENT`, 'MANIFEST-9\n'), 'MANIFEST-9'],
  ])('are refused, and not replaced by an empty store, if the store %s', async (name, damage, reason) => {
    const directory = path.join(root, name);
    await withEngine(await startEmbeddedEngine(directory), (client) => createTables(client, [stock]));
    damage(path.join(directory, 'dynamodb'));

    await expect(startEmbeddedEngine(directory)).rejects.toMatchObject({
      name: 'LocalServerError',
      message: expect.stringMatching(
        new RegExp(`${reason}.* or restore or delete damaged files, or choose another with --data.$`),
      ),
    });
  });

  test('fail the start, as data of another version, if a table has another key', async () => {
    const creating = withEngine(await startEmbeddedEngine(undefined), async (client) => {
      await createTables(client, [tableResource('stock', { storeId: 'S' })]);
      await createTables(client, [stock]);
    });

    await expect(creating).rejects.toMatchObject({
      name: 'LocalServerError',
      message: 'The table stock is of another version of the service. Choose another data directory with --data.',
    });
  });
});
