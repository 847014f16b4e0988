import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { ServiceError } from './contract/errors.ts';
import { int64Schema } from './contract/int64.ts';

export interface ClientOptions {
  /** Tries per call, the first included. */
  readonly maxAttempts: number;
  /** Longest wait for one answer, in milliseconds. */
  readonly requestTimeout: number;
}

/**
 * Numbers stay wrapped with the decimal text that DynamoDB sends, so that an int64 keeps its digits, there and back.
 * Hand over a copy: the SDK writes its own options into what it is given.
 */
export const exactNumbers = Object.freeze({ wrapNumbers: true });

/** The decimal text of a number in an item. */
export const decimalTextSchema = v.pipe(
  v.object({ value: v.string() }),
  v.transform(({ value }) => value),
);

/** An int64 in an item, as its digits. */
export const int64AttributeSchema = v.pipe(decimalTextSchema, int64Schema);

/** A number in an item that is known to fit a JavaScript number. */
export const safeNumberSchema = v.pipe(decimalTextSchema, v.transform(Number), v.safeInteger());

/** A DynamoDB client with {@link exactNumbers}. */
export function documentClient({ maxAttempts, requestTimeout }: ClientOptions): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts,
    requestHandler: { connectionTimeout: 1_000, requestTimeout, throwOnRequestTimeout: true },
  });
  // It formats every answer for a logger that is not set, which takes a tenth of the time of a long list.
  client.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** Failures that DynamoDB answers when it is too busy: the call was not carried out, and may be sent again. */
const REFUSALS = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionCanceledException',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

/** Whether DynamoDB was too busy for a call, or the item in a transaction: it has surely not been carried out. */
export function isThrottled(error: unknown): boolean {
  return error instanceof Error && REFUSALS.has(error.name);
}

/** Whether the failure lies with DynamoDB or the way to it, rather than with the request we sent. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ServiceError) return error.code === 'SERVICE_UNAVAILABLE';
  if (error instanceof DynamoDBServiceException) return error.$fault === 'server' || REFUSALS.has(error.name);
  return error.name === 'TimeoutError' || isNetworkError(error) || isServerError(error);
}

/** The codes that the operating system gives; Node's own, which begin with ERR_, are faults of a program. */
export function isNetworkError(error: Error): boolean {
  return /^E(?!RR_)[A-Z]/.test(codeOf(error));
}

/** A 5xx of something in between, whose body the SDK could not read. */
function isServerError(error: Error & { readonly $response?: { readonly statusCode?: number } }): boolean {
  return (error.$response?.statusCode ?? 0) >= 500;
}

/**
 * Whether the connection was gone. DynamoDB closes idle connections, and a function that was frozen meanwhile finds
 * out only when it uses one: the request has then not arrived.
 */
export function isConnectionGone(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error));
}

/** The connection was refused, or the host not found. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether a call surely was not carried out, and may be sent again. */
export function wasRefused(error: unknown): boolean {
  return isThrottled(error) || UNREACHED.has(codeOf(error));
}

/** The code of an error that has one: of the operating system, for an error of the network. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether a call may have been carried out, or may be yet: no answer came, or none that tells. */
export const isAnswerLost = (error: unknown): boolean => isUnavailable(error) && !wasRefused(error);

/** Awaits a DynamoDB call. @throws ServiceError SERVICE_UNAVAILABLE where DynamoDB is out of reach */
export const reachingDynamoDB = <Result>(call: Promise<Result>): Promise<Result> =>
  call.catch((error: unknown) => {
    throw isUnavailable(error) ? unavailable(error) : error;
  });

/** The answer where DynamoDB cannot be reached right now. */
export function unavailable(cause: unknown, message?: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    ...(message !== undefined && { message }),
    headers: { 'Retry-After': '1' },
    cause,
  });
}

/** The first one included. */
const MAX_TRIES = 4;
/** No try begins later: the function has 15 seconds, and a try takes up to six, for a read and a write. */
const LAST_TRY_AFTER_MS = 5_000;
/** Before the second try; it doubles with each further one. */
const LONGEST_FIRST_PAUSE_MS = 50;

/**
 * Makes an attempt again while it fails in a way that `mayRepeat` says. Pauses are random, or those who collide would
 * collide again.
 *
 * @throws the last failure
 */
export async function tryAgain<Result>(
  attempt: () => Promise<Result>,
  mayRepeat: (error: unknown) => boolean,
): Promise<Result> {
  const begun = Date.now();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayRepeat(error) || tries === MAX_TRIES || Date.now() - begun > LAST_TRY_AFTER_MS) throw error;
    }
    await sleep(Math.random() * LONGEST_FIRST_PAUSE_MS * 2 ** (tries - 1));
  }
}
