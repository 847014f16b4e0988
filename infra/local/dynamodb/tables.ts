import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceNotFoundException,
  type TableDescription,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { HostError } from '../host-error.ts';
import type { ServedStack } from '../template/stack.ts';

const attributesSchema = v.array(v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }));
const keySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }));

const indexesSchema = v.optional(
  v.array(
    v.object({
      IndexName: v.string(),
      KeySchema: keySchema,
      Projection: v.object({
        ProjectionType: v.picklist(['ALL', 'INCLUDE', 'KEYS_ONLY']),
        NonKeyAttributes: v.optional(v.array(v.string())),
      }),
    }),
  ),
);
type Indexes = v.InferOutput<typeof indexesSchema>;

/** A table by its name, with its key and its indexes. */
export interface TableSettings {
  readonly TableName: string;
  readonly AttributeDefinitions: v.InferOutput<typeof attributesSchema>;
  readonly KeySchema: v.InferOutput<typeof keySchema>;
  readonly GlobalSecondaryIndexes?: Indexes;
  readonly LocalSecondaryIndexes?: Indexes;
}

/** The tables of the template. */
export const tablesOf = (stack: ServedStack): TableSettings[] =>
  stack.resources('AWS::DynamoDB::Table').map((table) => ({
    TableName: table.ref,
    AttributeDefinitions: table.read('AttributeDefinitions', attributesSchema),
    KeySchema: table.read('KeySchema', keySchema),
    GlobalSecondaryIndexes: table.read('GlobalSecondaryIndexes', indexesSchema),
    LocalSecondaryIndexes: table.read('LocalSecondaryIndexes', indexesSchema),
  }));

/** Creates missing tables. @throws HostError for one with other keys or indexes */
export async function createTables(client: DynamoDBClient, tables: readonly TableSettings[]): Promise<void> {
  await Promise.all(tables.map((table) => createTable(client, table)));
}

async function createTable(client: DynamoDBClient, table: TableSettings): Promise<void> {
  const { TableName } = table;
  const existing = await describeTable(client, TableName);
  if (!existing) {
    await client.send(new CreateTableCommand({ ...table, BillingMode: 'PAY_PER_REQUEST' }));
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.01, maxDelay: 0.2 }, { TableName });
  } else if (keysOf(existing) !== keysOf(table)) {
    throw new HostError(
      `The table ${TableName} is of another version of the service. Choose another data directory with --data.`,
    );
  }
}

async function describeTable(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** The keys of a table and of its indexes, with what the indexes hold, for comparison. */
function keysOf(table: TableSettings | TableDescription): string {
  const { KeySchema, GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] } = table;
  const ofIndexes = [GlobalSecondaryIndexes, LocalSecondaryIndexes].map((indexes) =>
    indexes
      .map(({ IndexName, KeySchema: keys, Projection: { ProjectionType, NonKeyAttributes = [] } = {} }) =>
        JSON.stringify([IndexName, keyTexts(keys), ProjectionType, NonKeyAttributes.toSorted()]),
      )
      .toSorted(),
  );
  return JSON.stringify([keyTexts(KeySchema), ofIndexes]);
}

const keyTexts = (keys: readonly KeySchemaElement[] = []): string[] =>
  keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`);
