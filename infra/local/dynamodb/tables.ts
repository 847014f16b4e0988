import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { HostError } from '../host-error.ts';
import type { Resource } from '../template/stack.ts';

type TableResource = Resource<'AWS::DynamoDB::Table'>;

/** Creates the tables of the template that the engine does not have yet. @throws HostError on one of another shape */
export async function createTables(client: DynamoDBClient, tables: readonly TableResource[]): Promise<void> {
  for (const table of tables) {
    const existing = await keysOf(client, table.ref);
    if (!existing) await createTable(client, table);
    else if (describe(existing) !== describe(table.properties)) {
      throw new HostError(
        `The table ${table.ref} is of another version of the service. Choose another data folder with --data.`,
      );
    }
  }
}

/** What a table, or an index of it, is sorted by, and what an index has of each item. */
interface Keys {
  readonly KeySchema?: readonly KeySchemaElement[] | undefined;
  readonly Projection?: { readonly ProjectionType?: string | undefined } | undefined;
}

interface TableKeys extends Keys {
  readonly GlobalSecondaryIndexes?: readonly (Keys & { readonly IndexName?: string | undefined })[] | undefined;
}

async function keysOf(client: DynamoDBClient, name: string): Promise<TableKeys | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function createTable(client: DynamoDBClient, { ref, properties }: TableResource): Promise<void> {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } = properties;
  await client.send(
    new CreateTableCommand({
      TableName: ref,
      AttributeDefinitions,
      KeySchema,
      BillingMode,
      ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName: ref });
}

function describe({ KeySchema = [], Projection, GlobalSecondaryIndexes = [] }: TableKeys): string {
  const keys = KeySchema.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).join(', ');
  const indexes = GlobalSecondaryIndexes.map((index) => `${index.IndexName}: ${describe(index)}`);
  return [keys, Projection?.ProjectionType, ...indexes.toSorted()].join('; ');
}
