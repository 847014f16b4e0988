import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Item } from '../../../shared/item-attributes.ts';
import { LocalServerError } from '../local-server-error.ts';
import type { ServedStack } from '../template/stack.ts';

const attributesSchema = v.array(v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }));
const keySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }));

/** A table by its name, with its key. */
export type TableSettings = CreateTableCommandInput & { readonly TableName: string };

export const tablesOf = (stack: ServedStack): TableSettings[] =>
  stack.resources('AWS::DynamoDB::Table').map((table) => ({
    TableName: table.ref,
    AttributeDefinitions: table.read('AttributeDefinitions', attributesSchema),
    KeySchema: table.read('KeySchema', keySchema),
  }));

/** Creates missing tables. @throws LocalServerError for one with another key */
export async function createTables(client: DynamoDBClient, tables: readonly TableSettings[]): Promise<void> {
  await Promise.all(tables.map((table) => createTable(client, table)));
}

async function createTable(client: DynamoDBClient, table: TableSettings): Promise<void> {
  const { TableName } = table;
  const existing = await client.send(new DescribeTableCommand({ TableName })).catch((error: unknown) => {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  });
  if (!existing) {
    await client.send(new CreateTableCommand({ ...table, BillingMode: 'PAY_PER_REQUEST' }));
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.01, maxDelay: 0.2 }, { TableName });
  } else if (!isDeepStrictEqual(existing.Table?.KeySchema, table.KeySchema)) {
    throw new LocalServerError(
      `The table ${TableName} is of another version of the service. Choose another data directory with --data.`,
    );
  }
}

/** Max items of a BatchWriteItem call. */
const BATCH_SIZE = 25;

/**
 * Puts entries into a table of a local engine, which never throttles. Each replaces the one with its key.
 *
 * @param entries no two of them with the same key @param toItem the item of an entry
 */
export async function writeItems<Entry>(
  client: DynamoDBDocumentClient,
  tableName: string,
  entries: Iterable<Entry>,
  toItem: (entry: Entry) => Item,
): Promise<void> {
  const requests = Array.from(entries, (entry) => ({ PutRequest: { Item: toItem(entry) } }));
  for (let at = 0; at < requests.length; at += BATCH_SIZE) {
    const batch = requests.slice(at, at + BATCH_SIZE);
    await client.send(new BatchWriteCommand({ RequestItems: { [tableName]: batch } }));
  }
}
