import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../contract/int64.ts';
import { int64AttributeSchema, reachingDynamoDB } from '../dynamodb.ts';

/** The one store there is: the partition key of every entry that is listed. */
export const STORE_ID = 'main';

/** Name of the index that finds entries by their status. */
export const BY_STATUS = 'byStatus';

/** Short, so that a client has the first entries soon, however long the list. */
const FIRST_PAGE = 1_000;
/** Long enough that DynamoDB's latency counts little, short enough that memory stays flat. */
const NEXT_PAGES = 2_000;

/** Which entries of a list. */
export interface Selection {
  /** Only those with this status. */
  readonly status?: string | undefined;
  /** Only those with a higher id. */
  readonly after?: Int64 | undefined;
}

/** A page of a list, in ascending id. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** The id that the next page comes after; undefined on the last page. */
  readonly last: Int64 | undefined;
}

type Item = Record<string, unknown>;

/** The items of a table that a list shows: partition = store, sort key = id; found by status in an index. */
export class SortedTable {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;
  readonly #sortKey: string;
  /** By the names that expressions have for them: some attributes are called like words of the language. */
  readonly #attributes: Readonly<Record<string, string>>;

  /** @param attributes those that the entries of the list are made of, beside the sort key: the table sends no others */
  constructor(client: DynamoDBDocumentClient, tableName: string, sortKey: string, attributes: readonly string[]) {
    this.#client = client;
    this.#tableName = tableName;
    this.#sortKey = sortKey;
    this.#attributes = Object.fromEntries([sortKey, ...attributes].map((name) => [`#${name}`, name]));
  }

  /** Items of one Query, at most `limit`. Reads are eventually consistent: half the price. @throws ServiceError SERVICE_UNAVAILABLE */
  async page({ status, after }: Selection, limit: number): Promise<Page<Item>> {
    const partitionKey = status === undefined ? 'storeId' : 'status';
    const isInPartition = `#${partitionKey} = :partition`;
    const { Items = [], LastEvaluatedKey } = await reachingDynamoDB(
      this.#client.send(
        new QueryCommand({
          TableName: this.#tableName,
          // An index answers with what it has; DynamoDB refuses to be asked for more.
          ...(status === undefined
            ? { ProjectionExpression: Object.keys(this.#attributes).join(', ') }
            : { IndexName: BY_STATUS }),
          KeyConditionExpression:
            after === undefined ? isInPartition : `${isInPartition} AND #${this.#sortKey} > :after`,
          ExpressionAttributeNames: {
            [`#${partitionKey}`]: partitionKey,
            ...(after !== undefined && { [`#${this.#sortKey}`]: this.#sortKey }),
            ...(status === undefined && this.#attributes),
          },
          ExpressionAttributeValues: {
            ':partition': status ?? STORE_ID,
            ...(after !== undefined && { ':after': BigInt(after) }),
          },
          // With one more it shows whether this is the last page; LastEvaluatedKey may come on that one too.
          Limit: limit + 1,
        }),
      ),
    );
    const entries = Items.slice(0, limit);
    const lastKey = Items.length > limit ? entries.at(-1) : LastEvaluatedKey;
    return { entries, last: lastKey && this.#idOf(lastKey) };
  }

  #idOf(key: Item): Int64 {
    return v.parse(int64AttributeSchema, key[this.#sortKey]);
  }
}

/** All pages of a list, one after the other. */
export async function* allPages<Entry>(
  pageAfter: (after: Int64 | undefined, limit: number) => Promise<Page<Entry>>,
): AsyncGenerator<readonly Entry[]> {
  let page = await pageAfter(undefined, FIRST_PAGE);
  for (;;) {
    yield page.entries;
    if (page.last === undefined) return;
    page = await pageAfter(page.last, NEXT_PAGES);
  }
}
