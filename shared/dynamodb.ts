import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from './contract/errors.ts';
import { exactNumbers } from './item-attributes.ts';

export interface ClientOptions {
  /** Longest wait for one response, in milliseconds: {@link REQUEST_TIMEOUT_MS} by default. */
  readonly requestTimeout?: number;
  /**
   * Tries per call, the first included: one by default. The bundles of the functions of requests have no client that
   * repeats calls; their stores do, who know which may be repeated ({@link retry}).
   */
  readonly maxAttempts?: number;
}

/** A read and a write together take up to six seconds: see {@link LAST_ATTEMPT_AFTER_MS}. */
const REQUEST_TIMEOUT_MS = 3_000;

/** A DynamoDB client with {@link exactNumbers}. */
export function documentClient({
  requestTimeout = REQUEST_TIMEOUT_MS,
  maxAttempts = 1,
}: ClientOptions = {}): DynamoDBDocumentClient {
  // The rest of an answer must not take longer than its beginning.
  const timeouts = { connectionTimeout: 1_000, requestTimeout, socketTimeout: requestTimeout };
  const client = new DynamoDBClient({ maxAttempts, requestHandler: { ...timeouts, throwOnRequestTimeout: true } });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** What DynamoDB answers when it is too busy. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionCanceledException',
  'TransactionConflictException',
]);
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);
const DISCONNECTED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * What became of a call that failed:
 * - `throttled`: DynamoDB, or the item in a transaction, was too busy. It was not carried out.
 * - `unreached`: the connection was refused, or the host not found. It was not carried out.
 * - `disconnected`: the connection was gone. DynamoDB closes idle connections, and a function that was frozen meanwhile
 *   finds out only when it uses one: then the call has not arrived, but it may have.
 * - `unanswered`: no answer came, or none that can be read. The call may have been carried out, or may be yet.
 * - `faulty`: the failure lies neither with DynamoDB nor with the way to it.
 */
type Failure = 'throttled' | 'unreached' | 'disconnected' | 'unanswered' | 'faulty';

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return 'faulty';
  if (error instanceof ServiceError) return error.code === 'SERVICE_UNAVAILABLE' ? 'unanswered' : 'faulty';
  const code = codeOf(error);
  if (THROTTLED.has(error.name)) return 'throttled';
  if (UNREACHABLE.has(code)) return 'unreached';
  if (DISCONNECTED.has(code)) return 'disconnected';
  if (error instanceof DynamoDBServiceException) return error.$fault === 'server' ? 'unanswered' : 'faulty';
  // A 5xx of something in between, whose body the SDK could not read.
  const { $response }: Error & { readonly $response?: { readonly statusCode?: number } } = error;
  const isWithoutResponse =
    error.name === 'TimeoutError' || isNetworkError(error) || ($response?.statusCode ?? 0) >= 500;
  return isWithoutResponse ? 'unanswered' : 'faulty';
}

/** The code of an error that has one: of the operating system, for an error of the network. */
const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');

/** The codes that the operating system gives; Node's own, which begin with ERR_, are faults of a program. */
export const isNetworkError = (error: Error): boolean => /^E(?!RR_)[A-Z]/.test(codeOf(error));

const isOneOf =
  (...failures: readonly Failure[]) =>
  (error: unknown): boolean =>
    failures.includes(failureOf(error));

/** Whether the connection was refused, or the host not found. */
export const isUnreachable = isOneOf('unreached');
export const isThrottled = isOneOf('throttled');
export const isConnectionGone = isOneOf('disconnected');

/** Whether a call surely was not carried out, and may be sent again. */
export const wasRefused = isOneOf('throttled', 'unreached');

/** Whether a call may have been carried out, or may be yet. */
export const isResponseLost = isOneOf('disconnected', 'unanswered');

/** Whether the failure lies with DynamoDB or the way to it, rather than with the request we sent. */
export const isUnavailable = (error: unknown): boolean => failureOf(error) !== 'faulty';

/** Reads from DynamoDB, with up to three attempts if it is unavailable. @throws the last failure */
export const readAgain = <Result>(read: () => Promise<Result>): Promise<Result> =>
  retry(read, isUnavailable, { maxAttempts: 3 });

/** Awaits a DynamoDB call. @throws ServiceError SERVICE_UNAVAILABLE if DynamoDB is unavailable */
export const reachingDynamoDB = <Result>(call: Promise<Result>): Promise<Result> =>
  call.catch((error: unknown) => {
    throw isUnavailable(error) ? unavailable(error) : error;
  });

/** The answer where DynamoDB cannot be reached right now. */
export const unavailable = (cause: unknown, message?: string): ServiceError =>
  new ServiceError('SERVICE_UNAVAILABLE', { message, headers: { 'Retry-After': '1' }, cause });

/** No try begins later: a function has 10 seconds or more, and a try takes up to six, for a read and a write. */
export const LAST_ATTEMPT_AFTER_MS = 5_000;
const MAX_PAUSE_MS = 250;

export interface RetryOptions {
  /** The first one included. */
  readonly maxAttempts?: number;
  /** Unix milliseconds after which no try begins. */
  readonly retryUntil?: number;
}

/**
 * Makes an attempt again while it fails in a way that `mayRepeat` says. Pauses are random and longer each time, or
 * those who collide would collide again.
 *
 * @throws the last failure
 */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  mayRepeat: (error: unknown) => boolean,
  { maxAttempts = 4, retryUntil = Date.now() + LAST_ATTEMPT_AFTER_MS }: RetryOptions = {},
): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayRepeat(error) || attempts === maxAttempts) throw error;
      await sleep(Math.random() * Math.min(MAX_PAUSE_MS, 25 * 2 ** attempts));
      if (Date.now() > retryUntil) throw error;
    }
  }
}
