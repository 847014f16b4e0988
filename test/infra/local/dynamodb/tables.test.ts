import {
  DescribeTableCommand,
  type DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { startEmbeddedEngine } from '../../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';
import { ServiceTemplate } from '../../../support/service-template.ts';
import { type TableIndex, tableResource } from '../../../support/table-resource.ts';
import { withEngine } from '../../../support/with-engine.ts';

const service = new ServiceTemplate();
const key = { storeId: 'S', petId: 'N' } as const;
const byStatus: TableIndex = { name: 'byStatus', key: { status: 'S', petId: 'N' }, projection: 'KEYS_ONLY' };
const byName: TableIndex = { name: 'byName', key: { name: 'S', petId: 'N' } };
const stock = tableResource('stock', key);
const indexedStock = tableResource('stock', key, byStatus);

const inEngine = async <Result>(act: (client: DynamoDBClient) => Promise<Result>) =>
  withEngine(await startEmbeddedEngine(undefined), act);

async function tableNames(client: DynamoDBClient): Promise<string[]> {
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  return TableNames;
}

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
    expect(table?.GlobalSecondaryIndexes).toBeUndefined();
  });

  test('are found by their indexes, in their order, with what these have of an item', async () => {
    const found = await inEngine(async (client) => {
      await createTables(client, [indexedStock]);
      for (const petId of ['2', '-1', '10']) {
        const Item = { storeId: { S: 'main' }, petId: { N: petId }, status: { S: 'sold' }, quantity: { N: '0' } };
        await client.send(new PutItemCommand({ TableName: 'stock', Item }));
      }
      const { Items } = await client.send(
        new QueryCommand({
          TableName: 'stock',
          IndexName: 'byStatus',
          KeyConditionExpression: '#status = :sold',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':sold': { S: 'sold' } },
        }),
      );
      return Items;
    });

    expect(found).toEqual(
      ['-1', '2', '10'].map((petId) => ({ storeId: { S: 'main' }, petId: { N: petId }, status: { S: 'sold' } })),
    );
  });

  test('of the service can all be created, those that forget their items too', async () => {
    const tables = new LocalStack(service.stackName, service.unchanged).resources('AWS::DynamoDB::Table');
    const names = await inEngine(async (client) => {
      await createTables(client, tables);
      return tableNames(client);
    });

    expect(names).toEqual(tables.map(({ ref }) => ref).toSorted());
    expect(tables.filter(({ properties }) => properties.TimeToLiveSpecification !== undefined)).toHaveLength(2);
  });

  test.each([
    ['with no index', stock],
    ['with an index', indexedStock],
    ['with two', tableResource('stock', key, byStatus, byName)],
  ])('are left as they are where they are there: %s', async (_, table) => {
    const twice = inEngine(async (client) => {
      await createTables(client, [table]);
      await createTables(client, [table]);
    });

    await expect(twice).resolves.toBeUndefined();
  });

  test('may have their indexes in any order', async () => {
    const twice = inEngine(async (client) => {
      await createTables(client, [tableResource('stock', key, byName, byStatus)]);
      await createTables(client, [tableResource('stock', key, byStatus, byName)]);
    });

    await expect(twice).resolves.toBeUndefined();
  });

  test.each([
    ['another key', tableResource('stock', { shop_id: 'S', petId: 'N' }, byStatus)],
    ['no sort key', tableResource('stock', { storeId: 'S' }, byStatus)],
    ['its keys the other way round', tableResource('stock', { petId: 'N', storeId: 'S' }, byStatus)],
    ['no index', stock],
    ['one more index', tableResource('stock', key, byStatus, byName)],
    ['another index', tableResource('stock', key, byName)],
    ['its index under another name', tableResource('stock', key, { ...byStatus, name: 'byState' })],
    ['an index with another key', tableResource('stock', key, { ...byStatus, key: { status: 'S' } })],
    ['an index with more of each item', tableResource('stock', key, { ...byStatus, projection: 'ALL' })],
  ])('are of another version where one has %s', async (_, other) => {
    const creating = inEngine(async (client) => {
      await createTables(client, [other]);
      await createTables(client, [indexedStock]);
    });

    await expect(creating).rejects.toMatchObject({
      name: 'HostError',
      message: 'The table stock is of another version of the service. Choose another data folder with --data.',
    });
  });
});
