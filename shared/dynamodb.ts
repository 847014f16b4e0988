import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from './contract/errors.ts';

export interface ClientOptions {
  /** Tries per call, the first included. */
  readonly maxAttempts: number;
  /** Longest wait for one answer, in milliseconds. */
  readonly requestTimeout: number;
}

/** Numbers as the decimal text that DynamoDB sends. */
export const numbersAsText = { wrapNumbers: (text: string) => text };

/** A DynamoDB client that hands numbers over as the decimal text DynamoDB sends, so that an int64 keeps its digits. */
export function documentClient({ maxAttempts, requestTimeout }: ClientOptions): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts,
    requestHandler: { connectionTimeout: 500, requestTimeout, throwOnRequestTimeout: true },
  });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: numbersAsText });
}

const THROTTLING = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionInProgressException',
]);

/** Whether the failure lies with DynamoDB or the way to it, rather than with the request we sent. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DynamoDBServiceException) return error.$fault === 'server' || THROTTLING.has(error.name);
  return error.name === 'TimeoutError' || ('code' in error && typeof error.code === 'string');
}

/** Runs a DynamoDB call; what failed because DynamoDB is out of reach becomes a 503. */
export async function reachingDynamoDB<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new ServiceError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' }, cause: error });
  }
}
