import { randomUUID } from 'node:crypto';
import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { writeItems } from '../../infra/write-items.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import type { PetStatus } from '../../shared/contract/records.ts';
import { safeNumberSchema } from '../../shared/dynamodb.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { type KeyRecord, parseKeyRecord, unusedCounters } from '../../shared/keys/key-record.ts';
import { tokenEntry, type TokenOrder } from '../../shared/key-registry/key-tokens.ts';
import type { Limiter } from '../../shared/keys/limiter.ts';
import { generateToken, parseToken, type Token } from '../../shared/keys/token.ts';
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

export const createKeysTable = creating({ recordId: 'S' });
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
  async issue(differences: Partial<KeyRecord> = {}, text?: string): Promise<KeyRecord> {
    const key = aKey(differences, text);
    await this.#client.send(new PutCommand({ TableName: this.name, Item: key }));
    return key;
  }

  /** Adds a token to a key, even one that has ended. */
  async addToken(key: KeyRecord, order: TokenOrder): Promise<Token> {
    const text = generateToken(key.recordId);
    const now = await this.read(key);
    await this.issue({ ...now, tokens: { ...now.tokens, ...tokenEntry(text, order, 0) } });
    return parsed(text);
  }

  async read({ recordId }: KeyRecord): Promise<KeyRecord> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.name, Key: { recordId }, ConsistentRead: true }),
    );
    return parseKeyRecord(Item);
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
  return {
    recordId: parsed(text).recordId,
    keyId: 'k3y1d',
    name: 'acme',
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    enabled: true,
    createdAt: 0,
    tokens: tokenEntry(text, {}, 0),
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
