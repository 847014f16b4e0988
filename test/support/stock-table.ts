import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { writeItems } from '../../infra/write-items.ts';
import type { InventoryItem, PetStatus } from '../../shared/contract/inventory.ts';
import { safeNumberSchema } from '../../shared/dynamodb.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { int64 } from './int64.ts';
import { createStockTable } from './tables.ts';

/** A stock entry with what the tests leave to it. */
export function anEntry(petId: string | number, quantity = 1, status: PetStatus = 'available'): InventoryItem {
  return { petId: int64(String(petId)), quantity, status };
}

const storedSchema = v.object({
  quantity: safeNumberSchema,
  status: v.string(),
  version: v.optional(v.string()),
});

/** What lies in the table for a pet. */
export type StoredEntry = v.InferOutput<typeof storedSchema>;

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
  async read(petId: string): Promise<StoredEntry | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.name, Key: keyOf(petId), ConsistentRead: true }),
    );
    return Item && v.parse(storedSchema, Item);
  }
}

const keyOf = (petId: string) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const itemOf = ({ petId, quantity, status }: InventoryItem) => ({ ...keyOf(petId), quantity, status });
