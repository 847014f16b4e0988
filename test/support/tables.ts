import { randomUUID } from 'node:crypto';
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { createTables, type TableSettings, writeItems } from '../../infra/local/dynamodb/tables.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import type { PetStatus } from '../../shared/contract/records.ts';
import { safeNumberSchema } from '../../shared/item-attributes.ts';
import { STORE_ID } from '../../shared/stores/stock-store.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { newRecord, tokenEntry } from '../../shared/key-registry/record-changes.ts';
import type { Limiter } from '../../shared/keys/limiter.ts';
import { generateToken, parseToken, type Token } from '../../shared/keys/token.ts';
import { int64 } from './int64.ts';

/** The names and types of the key of a table: the partition key, and the sort key if there is one. */
type TableKey = Readonly<Record<string, 'S' | 'N'>>;

export const tableResource = (TableName: string, key: TableKey): TableSettings => ({
  TableName,
  AttributeDefinitions: Object.entries(key).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
  KeySchema: Object.keys(key).map((AttributeName, index) => ({
    AttributeName,
    KeyType: index === 0 ? 'HASH' : 'RANGE',
  })),
});

/** Makes tables as the stack declares them, without their expiry, which no test waits for. @returns the name */
const creating = (key: TableKey) => async (client: DynamoDBDocumentClient) => {
  const name = `table-${randomUUID()}`;
  await createTables(client, [tableResource(name, key)]);
  return name;
};

export const createKeysTable = creating({ recordId: 'S' });
export const createStockTable = creating({ storeId: 'S', petId: 'N' });
export const createPetsTable = creating({ petId: 'N' });
export const createOrdersTable = creating({ storeId: 'S', orderId: 'N' });
export const createHistoryTable = creating({ recordId: 'S', revision: 'N' });
export const createUsageTable = creating({ recordId: 'S', day: 'S' });
export const createChangesTable = creating({ petId: 'N', change: 'S' });
export const createRequestsTable = creating({ requestId: 'S' });

/** How an admin names a token that was made. */
export const nameOf = ({ label, token }: { readonly label: string; readonly token: string }): string =>
  `${label}/${token.slice(-4)}`;

/** A stock entry with what the tests leave to it. */
export function anEntry(petId: string | number, quantity = 1, status: PetStatus = 'available'): InventoryItem {
  return { petId: int64(String(petId)), quantity, status };
}

const storedSchema = v.object({
  quantity: safeNumberSchema,
  status: v.string(),
  version: v.optional(v.string()),
});

/** A table, and what an admin may do with its items. */
class Table {
  readonly name: string;
  protected readonly client: DynamoDBDocumentClient;

  constructor(client: DynamoDBDocumentClient, name: string) {
    this.client = client;
    this.name = name;
  }

  protected async putItem(Item: object): Promise<void> {
    await this.client.send(new PutCommand({ TableName: this.name, Item: { ...Item } }));
  }

  protected async getItem(Key: Record<string, unknown>): Promise<unknown> {
    return (await this.client.send(new GetCommand({ TableName: this.name, Key, ConsistentRead: true }))).Item;
  }
}

export class StockTable extends Table {
  static async create(client: DynamoDBDocumentClient): Promise<StockTable> {
    return new StockTable(client, await createStockTable(client));
  }

  /** Puts an entry in, as it is: without a version, unless `more` has one. */
  put(entry: InventoryItem, more: Record<string, unknown> = {}): Promise<void> {
    return this.putItem({ ...itemOf(entry), ...more });
  }

  async putAll(entries: Iterable<InventoryItem>): Promise<void> {
    await writeItems(this.client, this.name, entries, itemOf);
  }

  async delete(petId: string): Promise<void> {
    await this.client.send(new DeleteCommand({ TableName: this.name, Key: keyOf(petId) }));
  }

  async read(petId: string) {
    return v.parse(v.optional(storedSchema), await this.readItem(petId));
  }

  /** The same, as it is, for an entry that cannot be read. */
  readItem(petId: string): Promise<unknown> {
    return this.getItem(keyOf(petId));
  }
}

const keyOf = (petId: string) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const itemOf = ({ petId, ...fields }: InventoryItem) => ({ ...keyOf(petId), ...fields });

export class KeysTable extends Table {
  static async create(client: DynamoDBDocumentClient): Promise<KeysTable> {
    return new KeysTable(client, await createKeysTable(client));
  }

  /** Puts a key of its own into the table, as {@link aKey} makes it. */
  async issue(differences: Partial<KeyRecord> = {}, text?: string): Promise<KeyRecord> {
    const key = aKey(differences, text);
    await this.putItem(key);
    return key;
  }

  async read({ recordId }: KeyRecord): Promise<KeyRecord> {
    return parseKeyRecord(await this.getItem({ recordId }), this.name);
  }
}

/** Sends requests one after the other and says what became of them: `admitted`, `denied` or the reason of refusal. */
export async function outcomesOf(limiter: Limiter, count: number, key: KeyRecord, now: number, token = tokenOf(key)) {
  const seen: string[] = [];
  for (let request = 0; request < count; request++) {
    const verdict = await limiter.admit(token, now);
    seen.push(verdict.kind === 'refused' ? verdict.reason : verdict.kind);
  }
  return seen;
}

/** A token taken apart, as the authorizer does it. */
export function parsed(text: string): Token {
  const token = parseToken(text);
  if (!token) throw new Error('The text is no token');
  return token;
}

/** The first token of a key. */
export const tokenOf = ({ recordId, tokens }: Pick<KeyRecord, 'recordId' | 'tokens'>): Token => {
  const [hash = 'none'] = Object.keys(tokens);
  return { recordId, hash, usageIdentifier: recordId };
};

/** A key on the Free plan that was never used, except for what the test says, with one token that does not end. */
export function aKey(differences: Partial<KeyRecord> = {}, text = generateToken(differences.recordId)): KeyRecord {
  return newRecord({
    recordId: parsed(text).recordId,
    keyId: 'k3y1d',
    name: 'acme',
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    enabled: true,
    createdAt: 0,
    tokens: tokenEntry(text, {}, 0),
    revision: 0,
    ...differences,
  });
}
