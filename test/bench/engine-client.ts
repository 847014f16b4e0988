import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isInt64 } from '../../shared/contract/int64.ts';
import { type InventoryItem, petStatuses } from '../../shared/contract/inventory.ts';
import { exactNumbers } from '../../shared/dynamodb.ts';

/** Makes DynamoDB clients without settings of their own talk to this engine, as the environment of a function does. */
export function pointSdkAt(endpoint: URL): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint.href,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
  });
}

export function engineClient(endpoint: URL): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    endpoint: endpoint.href,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    maxAttempts: 1,
  });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** Stock of `count` pets, petId 1 and up, of all statuses. */
export function* manyPets(count: number): Generator<InventoryItem> {
  for (let number = 1; number <= count; number++) {
    const petId = String(number);
    const status = petStatuses[number % petStatuses.length] ?? 'available';
    if (isInt64(petId)) yield { petId, quantity: number % 1_000, status };
  }
}
