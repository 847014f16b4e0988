import { randomUUID } from 'node:crypto';
import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
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
  return createTable(client, [
    { name: 'storeId', type: 'S' },
    { name: 'petId', type: 'N' },
  ]);
}

async function createTable(client: DynamoDBDocumentClient, attributes: readonly KeyAttribute[]): Promise<string> {
  const TableName = `table-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
      KeySchema: attributes.map(({ name }, index) => ({
        AttributeName: name,
        KeyType: index === 0 ? 'HASH' : 'RANGE',
      })),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName });
  return TableName;
}
