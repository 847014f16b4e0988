import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../contract/errors.ts';
import { reachingDynamoDB } from '../dynamodb.ts';

/** What one BatchGetItem call takes. */
const BATCH_SIZE = 100;
const CONCURRENT_BATCHES = 4;
const MAX_ATTEMPTS = 6;

type Item = Record<string, unknown>;

/**
 * The items with these keys, in any order; those that are gone are left out.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE
 */
export async function readInBatches(
  client: DynamoDBDocumentClient,
  tableName: string,
  keys: readonly Item[],
): Promise<Item[]> {
  const batches = inBatches(keys);
  const items: Item[] = [];
  const work = async (): Promise<void> => {
    // Where one fails, this loop ends the generator, and with it the work of the others.
    for (const batch of batches) {
      for (const item of await readBatch(client, tableName, batch)) items.push(item);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, work));
  return items;
}

function* inBatches(keys: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < keys.length; from += BATCH_SIZE) yield keys.slice(from, from + BATCH_SIZE);
}

/** DynamoDB hands back the keys that it was too busy for; those are tried again, ever more slowly. */
async function readBatch(client: DynamoDBDocumentClient, tableName: string, batch: readonly Item[]): Promise<Item[]> {
  const items: Item[] = [];
  let requests: BatchGetCommandInput['RequestItems'] = { [tableName]: { Keys: [...batch] } };
  for (let attempt = 1; ; attempt++) {
    const { Responses, UnprocessedKeys }: BatchGetCommandOutput = await reachingDynamoDB(
      client.send(new BatchGetCommand({ RequestItems: requests })),
    );
    items.push(...(Responses?.[tableName] ?? []));
    requests = UnprocessedKeys;
    if (requests === undefined || Object.keys(requests).length === 0) return items;
    if (attempt === MAX_ATTEMPTS) throw new ServiceError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' } });
    await sleep(Math.random() * 25 * 2 ** attempt);
  }
}
