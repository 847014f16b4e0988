import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documentClient } from '../../shared/dynamodb.ts';

/**
 * The client of the functions, with the patience that hundreds of requests need that share one process, and so one
 * event loop and 50 sockets, with each other and maybe with the engine. On Lambda each has a process of its own.
 */
export function patientClient(): DynamoDBDocumentClient {
  const { translateConfig } = documentClient({ maxAttempts: 1, requestTimeout: 1_000 }).config;
  const client = new DynamoDBClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 20_000, requestTimeout: 20_000, throwOnRequestTimeout: true },
  });
  return DynamoDBDocumentClient.from(client, translateConfig);
}
