import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { takeUsage } from '../../../shared/request-log/usage.ts';
import { STORE_ID } from '../../../shared/stores/sorted-table.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { patientClient } from '../../support/patient-client.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';

test('The first request of an execution environment, and no other, is a cold start', () => {
  expect([takeUsage().coldStarts, takeUsage().coldStarts]).toEqual([1, 0]);
});

const keyOf = (petId: number) => ({ storeId: STORE_ID, petId });

describeOnEachEngine('What a request has used', () => {
  let client: ReturnType<typeof documentClient>;
  let TableName: string;

  const get = (ConsistentRead: boolean) => client.send(new GetCommand({ TableName, Key: keyOf(1), ConsistentRead }));
  const update = (ConditionExpression: string) =>
    client.send(
      new UpdateCommand({
        TableName,
        Key: keyOf(1),
        UpdateExpression: 'SET quantity = :quantity',
        ExpressionAttributeValues: { ':quantity': 7 },
        ConditionExpression,
      }),
    );

  beforeAll(async () => {
    const setUp = patientClient();
    const stock = await StockTable.create(setUp);
    await stock.putAll(Array.from({ length: 100 }, (_, index) => anEntry(String(index), 1, 'available')));
    TableName = stock.name;
    client = documentClient({ maxAttempts: 1, requestTimeout: 5_000 });
  });

  beforeEach(() => {
    takeUsage();
  });

  test('is nothing without a call', () => {
    expect(takeUsage()).toEqual({ readUnits: 0, writeUnits: 0, coldStarts: 0 });
  });

  test.each<[string, () => Promise<unknown>, number, number]>([
    ['a read', () => get(false), 0.5, 0],
    ['a consistent read', () => get(true), 1, 0],
    ['a batch of reads', () => readBatch(), 2, 0],
    ['a query of some 4 to 8 kB', () => query(), 1, 0],
    ['a write', () => client.send(new PutCommand({ TableName, Item: { ...keyOf(500), quantity: 1 } })), 0, 1],
    ['an update', () => update('quantity < :quantity OR quantity = :quantity'), 0, 1],
    ['calls beside each other', () => Promise.all([get(true), get(true), get(false)]), 2.5, 0],
  ])('is what DynamoDB says: %s', async (_, call, readUnits, writeUnits) => {
    await call();

    expect(takeUsage()).toEqual({ readUnits, writeUnits, coldStarts: 0 });
  });

  test('is a write unit for a condition that was false', async () => {
    await expect(update('quantity < :quantity')).rejects.toThrow('conditional');

    expect(takeUsage()).toMatchObject({ readUnits: 0, writeUnits: 1 });
  });

  test('is nothing for a call that failed otherwise', async () => {
    await expect(client.send(new GetCommand({ TableName: 'no-such-table', Key: keyOf(1) }))).rejects.toThrow(
      ResourceNotFoundException,
    );

    expect(takeUsage()).toMatchObject({ readUnits: 0, writeUnits: 0 });
  });

  test('is told once', async () => {
    await get(true);
    takeUsage();

    expect(takeUsage()).toMatchObject({ readUnits: 0 });
  });

  const readBatch = () =>
    client.send(
      new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [1, 2, 3, 4].map((petId) => keyOf(petId)) } } }),
    );

  const query = () =>
    client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'storeId = :store',
        ExpressionAttributeValues: { ':store': STORE_ID },
      }),
    );
});
