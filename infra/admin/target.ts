import { DescribeTableCommand, DynamoDBClient, type KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { exactNumbers } from '../../shared/dynamodb.ts';
import { OUTPUTS_PATH } from '../local/outputs-path.ts';
import { account, localCredentials } from '../local/template/account.ts';
import { AdminError, reasonOf } from './admin-error.ts';

export interface TargetOptions {
  /** Address of a local host. */
  readonly url: string;
  /** Name of a stock table on AWS; wins over `url`. */
  readonly table?: string;
}

/** The store that a command works on. */
export interface Target {
  readonly client: DynamoDBDocumentClient;
  readonly stockTable: string;
  /** For messages: where that is. */
  readonly place: string;
}

const outputsSchema = v.object({ StockTableName: v.string() });

/** Finds the store: the local host at an address, or a table on AWS. @throws AdminError where it cannot be reached */
export async function findTarget({ url, table }: TargetOptions): Promise<Target> {
  const target = table === undefined ? await localTarget(url) : awsTarget(table);
  await checkStockTable(target);
  return target;
}

async function localTarget(url: string): Promise<Target> {
  if (!URL.canParse(url))
    throw new AdminError(`--url ${url} is no address. It must be one such as http://localhost:3000.`);
  const { origin } = new URL(url);
  const outputs = v.safeParse(outputsSchema, await fetchJson(`${origin}${OUTPUTS_PATH}`));
  if (!outputs.success) throw new AdminError(`What answers at ${origin} is no local host of this service.`);
  const client = new DynamoDBClient({
    endpoint: origin,
    region: account.region,
    credentials: localCredentials,
  });
  return { client: documents(client), stockTable: outputs.output.StockTableName, place: origin };
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? await response.json() : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    const { origin } = new URL(url);
    throw new AdminError(`No local host answers at ${origin}. Start one with npm start, or name another with --url.`);
  }
}

function awsTarget(table: string): Target {
  return { client: documents(new DynamoDBClient({})), stockTable: table, place: `the table ${table}` };
}

function documents(client: DynamoDBClient): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

async function checkStockTable({ client, stockTable, place }: Target): Promise<void> {
  const keys = await keySchemaOf(client, stockTable, place);
  const names = keys.map(({ AttributeName }) => AttributeName).join(', ');
  if (names !== 'storeId, petId') {
    throw new AdminError(`The table ${stockTable} is no stock table: its key is ${names}, not storeId, petId.`);
  }
}

async function keySchemaOf(
  client: DynamoDBDocumentClient,
  TableName: string,
  place: string,
): Promise<KeySchemaElement[]> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table?.KeySchema ?? [];
  } catch (error) {
    throw new AdminError(
      `Cannot use ${place}: ${reasonOf(error)}. Check its name, AWS_REGION and the AWS credentials, or use --url.`,
    );
  }
}
