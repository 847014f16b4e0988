import {
  CreateTableCommand,
  DescribeTableCommand,
  ListTablesCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { TableName } from '../../infra/stages.ts';
import { writeItems } from '../../infra/write-items.ts';
import { runModule } from './module-process.ts';

/** Names of tables in DynamoDB. */
export type NamesOfTables = Readonly<Record<TableName, string>>;

/** Every table restored. */
export const restoredTables: NamesOfTables = {
  stock: 'staging-stock-restored',
  keys: 'staging-keys-restored',
  pets: 'staging-pets-restored',
  orders: 'staging-orders-restored',
  requests: 'staging-requests-restored',
};

const restoredStage = `
  const [, root, outdir, restoredTables] = process.argv;
  const { createApp } = await import(root + '/infra/create-app.ts');
  const { stages } = await import(root + '/infra/stages.ts');
  const stage = { ...stages.staging, restoredTables: JSON.parse(restoredTables) };
  createApp([stage], { outdir, referencePage: false }).synth();
`;

/** Synthesises staging with restored tables in the place of its own. @throws Error with what the CDK app has said */
export function synthesizeRestored(folder: string, restored: Partial<NamesOfTables>): void {
  runModule(restoredStage, folder, JSON.stringify(restored));
}

/** The tables of the stack, by the logical ids that their names end with. */
export async function tablesOfStack(client: DynamoDBDocumentClient): Promise<NamesOfTables> {
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  const table = (id: string): string => {
    const found = TableNames.find((name) => name.includes(`-Tables${id}`));
    if (found === undefined) throw new Error(`The engine has no table ${id}`);
    return found;
  };
  return {
    stock: table('Stock'),
    keys: table('Keys'),
    pets: table('Pets'),
    orders: table('Orders'),
    requests: table('Requests'),
  };
}

/** What RestoreTableToPointInTime makes of a table: another one with its keys, and its items as they are. */
export async function copyTable(client: DynamoDBDocumentClient, source: string, TableName: string): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: source }));
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: Table?.AttributeDefinitions,
      KeySchema: Table?.KeySchema,
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName });
  for await (const { Items = [] } of paginateScan({ client }, { TableName: source, ConsistentRead: true })) {
    await writeItems(client, TableName, Items, (item) => item);
  }
}
