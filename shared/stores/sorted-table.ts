import type { KeysAndAttributes } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../contract/int64.ts';
import type { InventoryItem } from '../contract/inventory.ts';
import { readWithRetries } from '../dynamodb.ts';
import { int64AttributeSchema, type Item, parseItem } from '../item-attributes.ts';
import { stockEntrySchema, STORE_ID } from './stock-store.ts';

/** Items of the first Query of a complete list: few, so the client gets the first entries soon. */
const FIRST_QUERY = 1_000;
/** Enough to hide DynamoDB's latency, and few enough to keep memory flat. */
const NEXT_QUERIES = 2_000;

/** Max items read for a page with a status, however few match. */
export const MAX_READ_FOR_PAGE = 1_000;

/** Which entries of a list. */
interface Selection {
  /** Only those with this status. */
  readonly status?: string | undefined;
  /** Only those with a higher id. */
  readonly after?: Int64 | undefined;
}

/** A page of a list, in ascending id. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** The next page begins after this id; undefined on the last page. */
  readonly last: Int64 | undefined;
}

/** With the names of the attributes that an item is read from. */
type ItemSchema<Entry> = v.GenericSchema<unknown, Entry> & { readonly entries: Readonly<Record<string, unknown>> };

/** The existing items of max 100 keys, read consistently, in any order. */
export async function itemsOf(
  client: DynamoDBDocumentClient,
  tableName: string,
  keys: readonly Item[],
  projection: Readonly<Pick<KeysAndAttributes, 'ProjectionExpression' | 'ExpressionAttributeNames'>> = {},
): Promise<Item[]> {
  const found: Item[] = [];
  let left = [...keys];
  const read = async (): Promise<void> => {
    const get = { ...projection, Keys: left, ConsistentRead: true };
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [tableName]: get } }),
    );
    found.push(...(Responses?.[tableName] ?? []));
    left = UnprocessedKeys?.[tableName]?.Keys ?? [];
    // DynamoDB throttles: named as its error for a throttled call.
    if (left.length > 0) throw Object.assign(new Error('Unprocessed keys'), { name: 'ThrottlingException' });
  };
  await readWithRetries(read);
  return found;
}

/** The items of a table in ascending id: partition = store, sort key = id. */
export class SortedTable<Entry> {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;
  readonly #idName: string;
  readonly #schema: ItemSchema<Entry>;

  /** @param schema of an item; only the attributes that it names are read */
  constructor(client: DynamoDBDocumentClient, tableName: string, idName: string, schema: ItemSchema<Entry>) {
    this.#client = client;
    this.#tableName = tableName;
    this.#idName = idName;
    this.#schema = schema;
  }

  /** All entries, an array per Query, also empty (rare status). */
  async *all(status?: string): AsyncGenerator<readonly Entry[]> {
    let after: Int64 | undefined;
    let size = FIRST_QUERY;
    do {
      const { items, last } = await this.#query({ status, after }, size);
      yield this.#parse(items);
      after = last;
      size = NEXT_QUERIES;
    } while (after !== undefined);
  }

  /**
   * At most `limit` entries, by one Query. With a status the page may be short or empty although more entries follow:
   * it reads {@link MAX_READ_FOR_PAGE} items.
   */
  async page({ status, after }: Selection, limit: number): Promise<Page<Entry>> {
    // One more than the page shows whether it is the last; DynamoDB may return a last key there too.
    const maxRead = status === undefined ? limit + 1 : MAX_READ_FOR_PAGE;
    const { items, last } = await this.#query({ status, after }, maxRead);
    const entries = items.slice(0, limit);
    return { entries: this.#parse(entries), last: items.length > limit ? this.#idOf(entries.at(-1)) : last };
  }

  /** The existing entries of these ids, max 100, read consistently, by id. */
  async byIds(ids: readonly Int64[]): Promise<readonly Entry[]> {
    const keys = ids.map((id) => ({ storeId: STORE_ID, [this.#idName]: BigInt(id) }));
    const found = await itemsOf(this.#client, this.#tableName, keys, this.#projection());
    const byId = new Map(found.map((item) => [BigInt(this.#idOf(item)), item]));
    return this.#parse([...byId].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item));
  }

  /** Eventually consistent: half the price. @returns also the last id read; undefined at the end of the table */
  async #query({ status, after }: Selection, limit: number) {
    const query = new QueryCommand({
      TableName: this.#tableName,
      ...this.#projection(),
      KeyConditionExpression: `storeId = :storeId${after === undefined ? '' : ` AND #${this.#idName} > :after`}`,
      ...(status !== undefined && { FilterExpression: '#status = :status' }),
      ExpressionAttributeValues: {
        ':storeId': STORE_ID,
        ...(after !== undefined && { ':after': BigInt(after) }),
        ...(status !== undefined && { ':status': status }),
      },
      Limit: limit,
    });
    const { Items, LastEvaluatedKey } = await readWithRetries(() => this.#client.send(query));
    return { items: Items ?? [], last: LastEvaluatedKey && this.#idOf(LastEvaluatedKey) };
  }

  #projection() {
    const names = Object.fromEntries(Object.keys(this.#schema.entries).map((name) => [`#${name}`, name]));
    // Some attributes are reserved words.
    return { ProjectionExpression: Object.keys(names).join(', '), ExpressionAttributeNames: names };
  }

  #parse(items: readonly Item[]): Entry[] {
    return items.map((item) => parseItem(this.#schema, item, this.#idName));
  }

  #idOf(item: Item | undefined): Int64 {
    return v.parse(int64AttributeSchema, item?.[this.#idName]);
  }
}

/** The stock levels of the store, in ascending petId. */
export const stockList = (client: DynamoDBDocumentClient, tableName: string): SortedTable<InventoryItem> =>
  new SortedTable(client, tableName, 'petId', stockEntrySchema);
