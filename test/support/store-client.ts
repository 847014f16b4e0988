import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { exactNumbers } from '../../shared/item-attributes.ts';

/** The client of the functions, for tests that need other settings. It is bundled as they are, too (see engines.ts). */
export const newClient = (
  requestHandler: NonNullable<DynamoDBClientConfig['requestHandler']>,
): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 1, requestHandler }), {
    unmarshallOptions: { ...exactNumbers },
  });
