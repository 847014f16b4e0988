import { randomUUID } from 'node:crypto';
import { CreateTableCommand, type KeySchemaElement, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

interface KeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N';
}

/** A keys table as the stack declares it. Returns its name. */
export function createKeysTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, [{ name: 'keyHash', type: 'S' }]);
}

/** A stock table as the stack declares it. Returns its name. */
export function createStockTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, inStore('petId'));
}

/** A pets table as the stack declares it. Returns its name. */
export function createPetsTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, [{ name: 'petId', type: 'N' }]);
}

/** An orders table as the stack declares it. Returns its name. */
export function createOrdersTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, inStore('orderId'));
}

/** A requests table as the stack declares it, without its expiry, which no test waits for. Returns its name. */
export function createRequestsTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, [{ name: 'requestId', type: 'S' }]);
}

const inStore = (sortKey: string): readonly KeyAttribute[] => [
  { name: 'storeId', type: 'S' },
  { name: sortKey, type: 'N' },
];

async function createTable(client: DynamoDBDocumentClient, keys: readonly KeyAttribute[]): Promise<string> {
  const TableName = `table-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
      KeySchema: keys.map(({ name }, index): KeySchemaElement => ({
        AttributeName: name,
        KeyType: index === 0 ? 'HASH' : 'RANGE',
      })),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName });
  return TableName;
}
