import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { HostError } from '../host-error.ts';
import type { ServedStack } from '../template/stack.ts';

const attributesSchema = v.array(v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }));
const keySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }));

/** A table by its name, with its key. */
export interface TableSettings {
  readonly TableName: string;
  readonly AttributeDefinitions: v.InferOutput<typeof attributesSchema>;
  readonly KeySchema: v.InferOutput<typeof keySchema>;
}

/** The tables of the template. @throws HostError for an index */
export const tablesOf = (stack: ServedStack): TableSettings[] =>
  stack.resources('AWS::DynamoDB::Table').map((table) => {
    for (const kind of ['GlobalSecondaryIndexes', 'LocalSecondaryIndexes']) table.refuse(kind);
    return {
      TableName: table.ref,
      AttributeDefinitions: table.read('AttributeDefinitions', attributesSchema),
      KeySchema: table.read('KeySchema', keySchema),
    };
  });

/** Creates missing tables. @throws HostError for one with other keys */
export async function createTables(client: DynamoDBClient, tables: readonly TableSettings[]): Promise<void> {
  await Promise.all(tables.map((table) => createTable(client, table)));
}

async function createTable(client: DynamoDBClient, table: TableSettings): Promise<void> {
  const { TableName, KeySchema } = table;
  const existing = await keysOf(client, TableName);
  if (!existing) {
    await client.send(new CreateTableCommand({ ...table, BillingMode: 'PAY_PER_REQUEST' }));
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.01, maxDelay: 0.2 }, { TableName });
  } else if (keysText(existing) !== keysText(KeySchema)) {
    throw new HostError(
      `The table ${TableName} is of another version of the service. Choose another data directory with --data.`,
    );
  }
}

async function keysOf(client: DynamoDBClient, TableName: string): Promise<readonly KeySchemaElement[] | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table?.KeySchema;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

const keysText = (keys: readonly KeySchemaElement[]): string =>
  keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).join(', ');
