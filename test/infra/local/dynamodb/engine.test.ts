import path from 'node:path';
import { DescribeTableCommand, type DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { Level } from 'level';
import { startEmbeddedEngine } from '../../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import { tableResource } from '../../../support/tables.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withEngine } from '../../../support/engines.ts';

const root = temporaryFolder();

const tableNames = async (client: DynamoDBClient) => (await client.send(new ListTablesCommand({}))).TableNames;
const stock = tableResource('stock', { storeId: 'S', petId: 'N' });
const orders = tableResource('orders', { storeId: 'S', orderId: 'N' });

describe('the embedded engine', () => {
  test('keeps everything in its folder, which need not be there', async () => {
    const folder = path.join(root, 'new', 'folder');
    await withEngine(await startEmbeddedEngine(folder), (client) => createTables(client, [stock]));

    expect(await withEngine(await startEmbeddedEngine(folder), tableNames)).toEqual(['stock']);
  });

  test('creates a table anew that a host was creating when it was killed', async () => {
    const folder = path.join(root, 'killed');
    await withEngine(await startEmbeddedEngine(folder), (client) => createTables(client, [stock, orders]));
    const store = new Level<string, object>(path.join(folder, 'dynamodb'), { valueEncoding: 'json' });
    await store.put('table~stock', { ...(await store.get('table~stock')), TableStatus: 'CREATING' });
    await store.close();
    const listed = await withEngine(await startEmbeddedEngine(folder), tableNames);
    await withEngine(await startEmbeddedEngine(folder), (client) => createTables(client, [stock, orders]));

    expect(listed).toEqual(['orders']);
    expect(await withEngine(await startEmbeddedEngine(folder), tableNames)).toEqual(['orders', 'stock']);
  });

  test('runs once a folder', async () => {
    const folder = path.join(root, 'shared');
    const first = await startEmbeddedEngine(folder);
    const second = startEmbeddedEngine(folder);

    await expect(second).rejects.toMatchObject({
      name: 'HostError',
      message: `The data folder ${folder} cannot be used: another host is running on it. Choose another with --data.`,
    });
    await first.close();
  });
});

const inEngine = async <Result>(act: (client: DynamoDBClient) => Promise<Result>) =>
  withEngine(await startEmbeddedEngine(undefined), act);

describe('the tables of the template', () => {
  test('are created, each as it is declared', async () => {
    const keys = tableResource('keys', { keyHash: 'S' });
    const { names, table } = await inEngine(async (client) => {
      await createTables(client, [stock, keys]);
      const { Table } = await client.send(new DescribeTableCommand({ TableName: 'stock' }));
      return { names: await tableNames(client), table: Table };
    });

    expect(names).toEqual(['keys', 'stock']);
    expect(table).toMatchObject({ KeySchema: stock.properties.KeySchema });
  });

  test.each([
    ['another key', tableResource('stock', { shop_id: 'S', petId: 'N' })],
    ['no sort key', tableResource('stock', { storeId: 'S' })],
    ['its keys the other way round', tableResource('stock', { petId: 'N', storeId: 'S' })],
  ])('are of another version where one has %s', async (_, other) => {
    const creating = inEngine(async (client) => {
      await createTables(client, [other]);
      await createTables(client, [stock]);
    });

    await expect(creating).rejects.toMatchObject({
      name: 'HostError',
      message: 'The table stock is of another version of the service. Choose another data folder with --data.',
    });
  });
});
