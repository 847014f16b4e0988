import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import pThrottle from 'p-throttle';
import type { Item } from '../../write-items.ts';

/** Writes per second: half of what one partition, such as all stock, accepts. The rest is for customers. */
const inTurn = pThrottle({ limit: 50, interval: 100 })(() => Promise.resolve());

/** Maximum concurrent calls of {@link writeIfUnchanged}. */
export const CONCURRENT_WRITES = 32;

/**
 * Puts or deletes an item unless it was changed since it was read. Waits to keep the write rate.
 *
 * @param before as it was read; undefined if there was none
 * @param after undefined to delete it @param Key of an item to delete
 * @returns false if it was changed by others; true also if the SDK has repeated the write after a lost response
 */
export async function writeIfUnchanged(
  client: DynamoDBDocumentClient,
  TableName: string,
  before: Item | undefined,
  after: Item | undefined,
  Key: Item = {},
): Promise<boolean> {
  const write = { TableName, ...isStill(before, after), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  await inTurn();
  try {
    if (after) await client.send(new PutCommand({ ...write, Item: after }));
    else await client.send(new DeleteCommand({ ...write, Key }));
    return true;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return isDeepStrictEqual(error.Item, after && marshall(after, { removeUndefinedValues: true }));
  }
}

/** Condition that all attributes of both versions are as they were read. */
function isStill(before: Item = {}, after: Item = {}) {
  const names = Object.keys({ ...before, ...after });
  const parts = names.map((name, at) => (name in before ? `#${at} = :${at}` : `attribute_not_exists(#${at})`));
  const values = names.flatMap((name, at) => (name in before ? [[`:${at}`, before[name]]] : []));
  const ExpressionAttributeNames = Object.fromEntries(names.map((name, at) => [`#${at}`, name]));
  const ExpressionAttributeValues = values.length === 0 ? undefined : Object.fromEntries(values);
  return { ConditionExpression: parts.join(' AND '), ExpressionAttributeNames, ExpressionAttributeValues };
}
