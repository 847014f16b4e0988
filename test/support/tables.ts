import { randomBytes, randomUUID } from 'node:crypto';
import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { writeItems } from '../../infra/write-items.ts';
import type { InventoryItem, PetStatus } from '../../shared/contract/inventory.ts';
import { safeNumberSchema } from '../../shared/dynamodb.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { type KeyRecord, parseKeyRecord, unusedCounters } from '../../shared/keys/key-record.ts';
import type { Limiter } from '../../shared/keys/limiter.ts';
import type { Resource } from '../../infra/local/template/stack.ts';
import { int64 } from './int64.ts';

/** The names and types of the key of a table: the partition key, and the sort key if there is one. */
type TableKey = Readonly<Record<string, 'S' | 'N'>>;

const definitionOf = (key: TableKey) => ({
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: Object.entries(key).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
  KeySchema: Object.keys(key).map((AttributeName, index) => ({
    AttributeName,
    KeyType: index === 0 ? ('HASH' as const) : ('RANGE' as const),
  })),
});

/** Makes tables as the stack declares them, without their expiry, which no test waits for. @returns the name */
const creating = (key: TableKey) => async (client: DynamoDBDocumentClient) => {
  const TableName = `table-${randomUUID()}`;
  await client.send(new CreateTableCommand({ TableName, ...definitionOf(key) }));
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName });
  return TableName;
};

export const createKeysTable = creating({ keyHash: 'S' });
export const createStockTable = creating({ storeId: 'S', petId: 'N' });
export const createPetsTable = creating({ petId: 'N' });
export const createOrdersTable = creating({ storeId: 'S', orderId: 'N' });
export const createRequestsTable = creating({ requestId: 'S' });

/** A stock entry with what the tests leave to it. */
export function anEntry(petId: string | number, quantity = 1, status: PetStatus = 'available'): InventoryItem {
  return { petId: int64(String(petId)), quantity, status };
}

const storedSchema = v.object({
  quantity: safeNumberSchema,
  status: v.string(),
  version: v.optional(v.string()),
});

/** A stock table as an admin sees it. */
export class StockTable {
  readonly name: string;
  readonly #client: DynamoDBDocumentClient;

  private constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.name = name;
  }

  static async create(client: DynamoDBDocumentClient): Promise<StockTable> {
    return new StockTable(client, await createStockTable(client));
  }

  /** Puts an entry in, as it is: without a version, unless `more` has one. */
  async put(entry: InventoryItem, more: Record<string, unknown> = {}): Promise<void> {
    await this.#client.send(new PutCommand({ TableName: this.name, Item: { ...itemOf(entry), ...more } }));
  }

  async putAll(entries: Iterable<InventoryItem>): Promise<void> {
    await writeItems(this.#client, this.name, entries, itemOf);
  }

  async delete(petId: string): Promise<void> {
    await this.#client.send(new DeleteCommand({ TableName: this.name, Key: keyOf(petId) }));
  }

  /** What lies in the table; undefined where there is nothing. */
  async read(petId: string) {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.name, Key: keyOf(petId), ConsistentRead: true }),
    );
    return Item && v.parse(storedSchema, Item);
  }
}

const keyOf = (petId: string) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const itemOf = ({ petId, quantity, status }: InventoryItem) => ({ ...keyOf(petId), quantity, status });

/** A keys table as an admin sees it. */
export class KeysTable {
  readonly name: string;
  readonly #client: DynamoDBDocumentClient;

  private constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.name = name;
  }

  static async create(client: DynamoDBDocumentClient): Promise<KeysTable> {
    return new KeysTable(client, await createKeysTable(client));
  }

  /** Puts a key of its own into the table, as {@link aKey} makes it. */
  async issue(differences: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const key = aKey(differences);
    await this.#client.send(new PutCommand({ TableName: this.name, Item: key }));
    return key;
  }

  async read({ keyHash }: KeyRecord): Promise<KeyRecord> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.name, Key: { keyHash }, ConsistentRead: true }),
    );
    return parseKeyRecord(Item);
  }
}

/** Sends requests one after the other and says what became of them: `admitted`, `denied` or the reason of refusal. */
export async function outcomesOf(limiter: Limiter, count: number, { keyHash }: KeyRecord, now: number) {
  const seen: string[] = [];
  for (let request = 0; request < count; request++) {
    const verdict = await limiter.admit(keyHash, now);
    seen.push(verdict.kind === 'refused' ? verdict.reason : verdict.kind);
  }
  return seen;
}

/** A key on the Free plan that was never used, except for what the test says. */
export function aKey(differences: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyHash: randomBytes(32).toString('hex'),
    keyId: 'k3y1d',
    lineage: 'k3y1d',
    name: 'acme',
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    enabled: true,
    createdAt: 0,
    usageIdentifier: 'hash',
    interimUntil: 0,
    revision: 0,
    revoked: false,
    ...unusedCounters,
    ...differences,
  };
}

/** A table of a template. */
export const tableResource = (ref: string, key: TableKey): Resource<'AWS::DynamoDB::Table'> => ({
  logicalId: ref,
  ref,
  properties: definitionOf(key),
});
