import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DeadlineHandler } from '../../shared/deadline-handler.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';

/** The client of the functions, for tests that need other settings. It is bundled as they are, too (see engines.ts). */
export function newClient(...settings: ConstructorParameters<typeof DeadlineHandler>): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ maxAttempts: 1, requestHandler: new DeadlineHandler(...settings) });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}
