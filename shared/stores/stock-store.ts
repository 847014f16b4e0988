import { randomBytes } from 'node:crypto';
import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import type { Int64 } from '../contract/int64.ts';
import { entityTag, type InventoryItem } from '../contract/inventory.ts';
import { exactNumbers, isAnswerLost, reachingDynamoDB, tryAgain, unavailable, wasRefused } from '../dynamodb.ts';
import { stockEntrySchema, STORE_ID } from './sorted-table.ts';

/** A stock entry as one write has made it. */
export interface StockVersion {
  readonly entry: InventoryItem;
  /** Random: every write of an entry sets another one. */
  readonly version: string;
}

export interface StockUpdate {
  readonly petId: Int64;
  readonly quantity: number;
  /** Update only one of these versions; undefined: any. */
  readonly versions?: readonly string[] | undefined;
}

/** 72 random bits. */
export const newVersion = (): string => randomBytes(9).toString('base64url');

/** Stands for the version of an entry that was put in by hand, without one. */
const unversioned = (petId: Int64): string => `unversioned${petId}`;

const itemSchema = v.pipe(
  v.object({ ...stockEntrySchema.entries, version: v.optional(v.string()) }),
  v.transform(({ version, ...entry }): StockVersion => ({ entry, version: version ?? unversioned(entry.petId) })),
);

/** The item of an entry that replaces the one its pet has. Numbers that may be beyond 2^53 are BigInts. */
export const stockItem = ({ petId, quantity, status }: InventoryItem) => ({
  storeId: STORE_ID,
  petId: BigInt(petId),
  quantity,
  status,
  version: newVersion(),
});

/** The stock entries of pets: one item per pet (partition = store, sort key = petId). */
export class StockStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  /** @param client for updates one without retries of its own: it would repeat a write that may be done */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** The entry of a pet as it is now; undefined where there is none. @throws ServiceError SERVICE_UNAVAILABLE */
  async find(petId: Int64): Promise<StockVersion | undefined> {
    const get = new GetCommand({ TableName: this.#tableName, Key: keyOf(petId), ConsistentRead: true });
    const { Item } = await reachingDynamoDB(this.#client.send(get));
    return Item && v.parse(itemSchema, Item);
  }

  /**
   * Sets the quantity of one pet, leaving its status: one conditional write. It is sent again only where it surely was
   * not done. If its answer is lost, one read tells whether it was: then the entry has its version.
   *
   * @returns the entry as the update made it
   * @throws ServiceError PET_NOT_FOUND, PRECONDITION_FAILED with the current ETag, or SERVICE_UNAVAILABLE, whose message
   *   says so where nobody can tell whether the update was done
   */
  async update(update: StockUpdate): Promise<StockVersion> {
    const version = newVersion();
    const write = new UpdateCommand({ ...this.writeOf(update, version), ReturnValues: 'ALL_NEW' });
    try {
      const { Attributes } = await tryAgain(() => this.#client.send(write), wasRefused);
      return v.parse(itemSchema, Attributes);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) throw refusal(parseRefused(error.Item));
      if (!isAnswerLost(error)) throw wasRefused(error) ? unavailable(error) : error;
      const found = await this.find(update.petId).catch(() => undefined);
      if (found?.version === version) return found;
      throw unavailable(error, UNKNOWN_OUTCOME);
    }
  }

  /** The write that carries out an update, for UpdateItem and for TransactWriteItems. */
  writeOf({ petId, quantity, versions }: StockUpdate, version: string) {
    const expected = Object.fromEntries((versions ?? []).map((each, index) => [`:expected${index}`, each]));
    const isExpected = `version IN (${Object.keys(expected).join(', ')})`;
    const orUnversioned = versions?.includes(unversioned(petId)) ? ' OR attribute_not_exists(version)' : '';
    return {
      TableName: this.#tableName,
      Key: keyOf(petId),
      UpdateExpression: 'SET quantity = :quantity, version = :version',
      ConditionExpression: `attribute_exists(petId)${versions ? ` AND (${isExpected}${orUnversioned})` : ''}`,
      ExpressionAttributeValues: { ':quantity': quantity, ':version': version, ...expected },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
  }
}

const keyOf = (petId: Int64) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const UNKNOWN_OUTCOME =
  'Nobody can tell whether the update was done: read the entry before you send it again, or send updates with an Idempotency-Key.';

/** The entry that does not meet the condition of an update; undefined where there is none. */
export const parseRefused = (item: Record<string, AttributeValue> | undefined): StockVersion | undefined =>
  item && v.parse(itemSchema, unmarshall(item, { ...exactNumbers }));

/** Why an update is not done, given the entry as it is. */
export function refusal(found: StockVersion | undefined): ServiceError {
  if (!found) return new ServiceError('PET_NOT_FOUND');
  return new ServiceError('PRECONDITION_FAILED', { headers: { ETag: entityTag(found.version) } });
}
