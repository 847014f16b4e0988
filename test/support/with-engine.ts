import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Engine } from '../../infra/local/dynamodb/engine.ts';

/** Does something with a client of an engine, and stops the engine. */
export async function withEngine<Result>(
  engine: Engine,
  act: (client: DynamoDBClient) => Promise<Result>,
): Promise<Result> {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint.href,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  try {
    return await act(client);
  } finally {
    client.destroy();
    await engine.close();
  }
}
