import { randomUUID } from 'node:crypto';
import { CreateTableCommand, type GlobalSecondaryIndex, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BY_STATUS } from '../../shared/stores/sorted-table.ts';

interface KeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N';
}

interface TableShape {
  readonly keys: readonly KeyAttribute[];
  /** What the index by status holds of an item; undefined where there is no such index. */
  readonly byStatus?: 'KEYS_ONLY' | 'ALL';
}

/** A keys table as the stack declares it. Returns its name. */
export function createKeysTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, { keys: [{ name: 'keyHash', type: 'S' }] });
}

/** A stock table as the stack declares it. Returns its name. */
export function createStockTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, { keys: inStore('petId'), byStatus: 'KEYS_ONLY' });
}

/** A pets table as the stack declares it. Returns its name. */
export function createPetsTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, { keys: [{ name: 'petId', type: 'N' }] });
}

/** An orders table as the stack declares it. Returns its name. */
export function createOrdersTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, { keys: inStore('orderId'), byStatus: 'ALL' });
}

/** A requests table as the stack declares it, without its expiry, which no test waits for. Returns its name. */
export function createRequestsTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, { keys: [{ name: 'requestId', type: 'S' }] });
}

/** A secrets table as the stack declares it. Returns its name. */
export function createSecretsTable(client: DynamoDBDocumentClient): Promise<string> {
  return createTable(client, { keys: [{ name: 'name', type: 'S' }] });
}

const STATUS: KeyAttribute = { name: 'status', type: 'S' };

const inStore = (sortKey: string): readonly KeyAttribute[] => [
  { name: 'storeId', type: 'S' },
  { name: sortKey, type: 'N' },
];

async function createTable(client: DynamoDBDocumentClient, { keys, byStatus }: TableShape): Promise<string> {
  const TableName = `table-${randomUUID()}`;
  const attributes = byStatus === undefined ? keys : [...keys, STATUS];
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
      KeySchema: keySchema(keys),
      ...(byStatus !== undefined && { GlobalSecondaryIndexes: [indexByStatus(keys, byStatus)] }),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName });
  return TableName;
}

function indexByStatus(keys: readonly KeyAttribute[], ProjectionType: 'KEYS_ONLY' | 'ALL'): GlobalSecondaryIndex {
  return { IndexName: BY_STATUS, KeySchema: keySchema([STATUS, ...keys.slice(1)]), Projection: { ProjectionType } };
}

function keySchema(keys: readonly KeyAttribute[]): GlobalSecondaryIndex['KeySchema'] {
  return keys.map(({ name }, index) => ({ AttributeName: name, KeyType: index === 0 ? 'HASH' : 'RANGE' }));
}
