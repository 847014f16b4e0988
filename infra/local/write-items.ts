import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/item-attributes.ts';

/** Max items of a BatchWriteItem call. */
const BATCH_SIZE = 25;

/**
 * Puts entries into a table of a local engine, which never throttles. Each replaces the one with its key.
 *
 * @param entries no two of them with the same key @param toItem the item of an entry
 */
export async function writeItems<Entry>(
  client: DynamoDBDocumentClient,
  tableName: string,
  entries: Iterable<Entry>,
  toItem: (entry: Entry) => Item,
): Promise<void> {
  const requests = Array.from(entries, (entry) => ({ PutRequest: { Item: toItem(entry) } }));
  for (let at = 0; at < requests.length; at += BATCH_SIZE) {
    const batch = requests.slice(at, at + BATCH_SIZE);
    await client.send(new BatchWriteCommand({ RequestItems: { [tableName]: batch } }));
  }
}
