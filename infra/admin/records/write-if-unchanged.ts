import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import pThrottle from 'p-throttle';
import type { Item } from '../../write-items.ts';

/** Half of what DynamoDB takes for one partition, such as all stock, in a second: the rest is for customers. */
const inTurn = pThrottle({ limit: 50, interval: 100 })(() => Promise.resolve());

/** Calls of {@link writeIfUnchanged} at once. */
export const CONCURRENT_WRITES = 32;

/**
 * Puts an item, or deletes it, unless it was changed since it was read. It waits for its turn.
 *
 * @param before as it was read; undefined: there was none
 * @param after undefined: it is deleted @param Key of an item that is deleted
 * @returns false where it was changed, and is left
 */
export async function writeIfUnchanged(
  client: DynamoDBDocumentClient,
  TableName: string,
  before: Item | undefined,
  after: Item | undefined,
  Key: Item = {},
): Promise<boolean> {
  const write = { TableName, ...isStill(before, after) };
  await inTurn();
  try {
    if (after) await client.send(new PutCommand({ ...write, Item: after }));
    else await client.send(new DeleteCommand({ ...write, Key }));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** The condition that an item is as it was read: each attribute of it, and of what takes its place. */
function isStill(before: Item = {}, after: Item = {}) {
  const names = Object.keys({ ...before, ...after });
  const parts = names.map((name, at) => (name in before ? `#${at} = :${at}` : `attribute_not_exists(#${at})`));
  const values = names.flatMap((name, at) => (name in before ? [[`:${at}`, before[name]]] : []));
  const ExpressionAttributeNames = Object.fromEntries(names.map((name, at) => [`#${at}`, name]));
  const ExpressionAttributeValues = values.length === 0 ? undefined : Object.fromEntries(values);
  return { ConditionExpression: parts.join(' AND '), ExpressionAttributeNames, ExpressionAttributeValues };
}
