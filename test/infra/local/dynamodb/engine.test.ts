import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { type Engine, externalEngine, startEmbeddedEngine } from '../../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import type { Resource } from '../../../../infra/local/template/stack.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const root = temporaryFolder();

type TableResource = Resource<'AWS::DynamoDB::Table'>;

function table(ref: string, ...keys: readonly [name: string, type: 'S' | 'N'][]): TableResource {
  return {
    logicalId: ref,
    ref,
    properties: {
      AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
      KeySchema: keys.map(([AttributeName], index) => ({ AttributeName, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: false,
      PointInTimeRecoverySpecification: undefined,
      SSESpecification: undefined,
    },
  };
}

/** Does something with a client of an engine, and stops the engine. */
async function withEngine<Result>(engine: Engine, act: (client: DynamoDBClient) => Promise<Result>): Promise<Result> {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint.href,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  try {
    return await act(client);
  } finally {
    client.destroy();
    await engine.close();
  }
}

const tableNames = async (client: DynamoDBClient) => (await client.send(new ListTablesCommand({}))).TableNames;
const stock = table('stock', ['storeId', 'S'], ['petId', 'N']);

describe('the embedded engine', () => {
  test('is reachable from this machine only', async () => {
    const engine = await startEmbeddedEngine(undefined);
    await engine.close();

    expect(engine.endpoint.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
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

describe('the tables of the template', () => {
  test('are created, each as it is declared', async () => {
    const keys = table('keys', ['keyHash', 'S']);
    const engine = await startEmbeddedEngine(undefined);
    const names = await withEngine(engine, async (client) => {
      await createTables(client, [stock, keys]);
      return tableNames(client);
    });

    expect(names).toEqual(['keys', 'stock']);
  });

  test('are left as they are where they are there', async () => {
    const twice = withEngine(await startEmbeddedEngine(undefined), async (client) => {
      await createTables(client, [stock]);
      await createTables(client, [stock]);
    });

    await expect(twice).resolves.toBeUndefined();
  });

  test.each([
    ['another key', table('stock', ['shop_id', 'S'], ['petId', 'N'])],
    ['no sort key', table('stock', ['storeId', 'S'])],
    ['its keys the other way round', table('stock', ['petId', 'N'], ['storeId', 'S'])],
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
