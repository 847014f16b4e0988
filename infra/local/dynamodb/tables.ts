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

/** Creates the tables of the template that the engine does not have yet. @throws HostError on one with other keys */
export async function createTables(client: DynamoDBClient, tables: readonly TableResource[]): Promise<void> {
  for (const table of tables) {
    const existing = await keysOf(client, table.ref);
    if (!existing) await createTable(client, table);
    else if (keysText(existing) !== keysText(table.properties.KeySchema)) {
      throw new HostError(
        `The table ${table.ref} is of another version of the service. Choose another data folder with --data.`,
      );
    }
  }
}

async function keysOf(client: DynamoDBClient, name: string): Promise<readonly KeySchemaElement[] | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return Table?.KeySchema;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function createTable(client: DynamoDBClient, { ref, properties }: TableResource): Promise<void> {
  await client.send(new CreateTableCommand({ ...properties, TableName: ref, BillingMode: 'PAY_PER_REQUEST' }));
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName: ref });
}

const keysText = (keys: readonly KeySchemaElement[]): string =>
  keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).join(', ');
