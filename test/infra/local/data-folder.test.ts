import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { Level } from 'level';
import { openDataFolder } from '../../../infra/local/data-folder.ts';
import { startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { LogGroups } from '../../../infra/local/log-sink.ts';
import { tableResource } from '../../support/tables.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withEngine } from '../../support/engines.ts';

const root = temporaryFolder();

test.each([
  ['no mark', undefined],
  ['the mark of another version', '1\n'],
])('A data folder with data and %s is refused', (name, mark) => {
  const folder = path.join(root, name);
  mkdirSync(path.join(folder, 'dynamodb'), { recursive: true });
  if (mark !== undefined) writeFileSync(path.join(folder, 'format'), mark);

  expect(() => openDataFolder(folder)).toThrow(
    `The data folder ${folder} was written by another version of the service. Delete it, or choose another with --data.`,
  );
});

test('The log groups of a host go on where the last host left off', async () => {
  const folder = path.join(root, 'logs');
  mkdirSync(folder);
  for (const text of ['first\n', 'second\n']) {
    const logGroups = new LogGroups(folder);
    logGroups.sink('stock')(text);
    await logGroups.close();
  }

  expect(readFileSync(path.join(folder, 'stock.log'), 'utf8')).toBe('first\nsecond\n');
});

const tableNames = async (client: DynamoDBClient) => (await client.send(new ListTablesCommand({}))).TableNames;

describe('the tables in a data folder', () => {
  const stock = tableResource('stock', { storeId: 'S', petId: 'N' });
  const orders = tableResource('orders', { storeId: 'S', orderId: 'N' });

  test('are created anew where a host was creating them when it was killed', async () => {
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

  test.each([
    ['another key', tableResource('stock', { shop_id: 'S', petId: 'N' })],
    ['no sort key', tableResource('stock', { storeId: 'S' })],
  ])('are of another version where one has %s', async (_, other) => {
    const creating = withEngine(await startEmbeddedEngine(undefined), async (client) => {
      await createTables(client, [other]);
      await createTables(client, [stock]);
    });

    await expect(creating).rejects.toMatchObject({
      name: 'HostError',
      message: 'The table stock is of another version of the service. Choose another data folder with --data.',
    });
  });
});
