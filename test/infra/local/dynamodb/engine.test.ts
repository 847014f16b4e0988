import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { Level } from 'level';
import { externalEngine, startEmbeddedEngine } from '../../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import { tableResource } from '../../../support/table-resource.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withEngine } from '../../../support/with-engine.ts';

const root = temporaryFolder();

const tableNames = async (client: DynamoDBClient) => (await client.send(new ListTablesCommand({}))).TableNames;
const stock = tableResource('stock', { storeId: 'S', petId: 'N' });
const orders = tableResource('orders', { storeId: 'S', orderId: 'N' });

describe('the embedded engine', () => {
  test('is reachable from this machine only', async () => {
    const engine = await startEmbeddedEngine(undefined);
    await engine.close();

    expect(engine.endpoint.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{64}\/$/);
  });

  test('forgets everything without a folder', async () => {
    await withEngine(await startEmbeddedEngine(undefined), (client) => createTables(client, [stock]));

    expect(await withEngine(await startEmbeddedEngine(undefined), tableNames)).toEqual([]);
  });

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

  test('is gone once it is closed', async () => {
    const engine = await startEmbeddedEngine(undefined);
    await engine.close();

    await expect(withEngine(externalEngine(engine.endpoint), tableNames)).rejects.toThrow('ECONNREFUSED');
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

  test('cannot keep anything where a file is', async () => {
    const file = path.join(root, 'file');
    writeFileSync(file, '');

    await expect(startEmbeddedEngine(file)).rejects.toMatchObject({
      name: 'HostError',
      message: expect.stringMatching(/^The data folder .*file cannot be used: .* Choose another with --data\.$/),
    });
  });
});

test('An engine that runs elsewhere is left running', async () => {
  const engine = await startEmbeddedEngine(undefined);
  await externalEngine(engine.endpoint).close();

  expect(await withEngine(engine, tableNames)).toEqual([]);
});
