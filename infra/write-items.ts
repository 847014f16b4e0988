import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  type BatchWriteCommandOutput,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

/** Max items of a BatchWriteItem call. */
const BATCH_SIZE = 25;
const CONCURRENT_BATCHES = 4;
const MAX_ATTEMPTS = 10;

/** An item of a table. */
export type Item = Record<string, NativeAttributeValue>;

type Source<Entry> = AsyncIterable<Entry> | Iterable<Entry>;

/**
 * Puts entries into a table, each replacing the one with its key. Safe to repeat.
 *
 * @param entries no two of them with the same key
 * @param toItem the item of an entry
 * @param onWritten called with the number of entries written since the last call
 * @throws the SDK's error, or an Error if the table throttles persistently; written entries stay
 */
export async function writeItems<Entry>(
  client: DynamoDBDocumentClient,
  tableName: string,
  entries: Source<Entry>,
  toItem: (entry: Entry) => Item,
  onWritten: (count: number) => void = () => undefined,
): Promise<void> {
  const write = async (batch: readonly Entry[]): Promise<void> => {
    await writeBatch(client, tableName, batch.map(toItem));
    onWritten(batch.length);
  };
  await Readable.from(inBatches(entries, BATCH_SIZE)).forEach(write, { concurrency: CONCURRENT_BATCHES });
}

/** Writes the entries of one call. */
export async function* inBatches<Entry>(entries: Source<Entry>, size: number): AsyncGenerator<Entry[], undefined> {
  let batch: Entry[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** DynamoDB returns unprocessed items; these are retried with backoff. */
async function writeBatch(client: DynamoDBDocumentClient, tableName: string, items: readonly Item[]): Promise<void> {
  let requests: BatchWriteCommandInput['RequestItems'] = {
    [tableName]: items.map((Item) => ({ PutRequest: { Item } })),
  };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const result: BatchWriteCommandOutput = await client.send(new BatchWriteCommand({ RequestItems: requests }));
    requests = result.UnprocessedItems ?? {};
    if (Object.keys(requests).length === 0) return;
    await sleep(Math.random() * Math.min(5_000, 50 * 2 ** attempt));
  }
  throw new Error(`The table ${tableName} throttled, and did not accept all entries.`);
}
