import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  type BatchWriteCommandOutput,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import type { InventoryItem } from '../shared/contract/inventory.ts';
import { STORE_ID } from '../shared/stock-store.ts';

/** What one BatchWriteItem call takes. */
const BATCH_SIZE = 25;
const CONCURRENT_BATCHES = 4;
const MAX_ATTEMPTS = 10;

/**
 * Puts stock entries into the table, each replacing the one its pet has. Running it again changes nothing.
 *
 * @param onWritten called with the number of entries written since the last call
 * @throws what the SDK throws, or an Error where the table stays too busy; what was written by then stays
 */
export async function writeStock(
  client: DynamoDBDocumentClient,
  tableName: string,
  entries: AsyncIterable<InventoryItem> | Iterable<InventoryItem>,
  onWritten: (count: number) => void = () => undefined,
): Promise<void> {
  const batches = inBatches(entries);
  const work = async (): Promise<void> => {
    try {
      for (let next = await batches.next(); !next.done; next = await batches.next()) {
        await writeBatch(client, tableName, next.value);
        onWritten(next.value.length);
      }
    } catch (error) {
      // The others stop with the batch they are at.
      await batches.return(undefined);
      throw error;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, work));
}

async function* inBatches(entries: AsyncIterable<InventoryItem> | Iterable<InventoryItem>) {
  let batch: InventoryItem[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length === BATCH_SIZE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** DynamoDB hands back what it was too busy for; that is tried again, ever more slowly. */
async function writeBatch(
  client: DynamoDBDocumentClient,
  tableName: string,
  entries: readonly InventoryItem[],
): Promise<void> {
  let requests: BatchWriteCommandInput['RequestItems'] = {
    [tableName]: entries.map(({ petId, quantity, status }) => ({
      PutRequest: { Item: { storeId: STORE_ID, petId: BigInt(petId), quantity, status } },
    })),
  };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const result: BatchWriteCommandOutput = await client.send(new BatchWriteCommand({ RequestItems: requests }));
    requests = result.UnprocessedItems ?? {};
    if (Object.keys(requests).length === 0) return;
    await sleep(Math.random() * Math.min(5_000, 50 * 2 ** attempt));
  }
  throw new Error(`The table ${tableName} was too busy to take all entries. Run the import again later.`);
}
