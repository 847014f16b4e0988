import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ServiceError, serviceErrorOf } from './contract/errors.ts';
import { DeadlineHandler } from './deadline-handler.ts';
import { exactNumbers } from './item-attributes.ts';

export interface ClientOptions {
  /** Deadline of an attempt, to its last byte, in milliseconds: {@link REQUEST_TIMEOUT_MS} by default. */
  readonly requestTimeout?: number;
  /**
   * Max attempts per call: one by default. The client in the bundles of request functions does not
   * retry; their stores do, where it is safe ({@link retry}).
   */
  readonly maxAttempts?: number;
}

/** A read and a write together take up to six seconds: see {@link LAST_ATTEMPT_AFTER_MS}. */
export const REQUEST_TIMEOUT_MS = 3_000;

/** A DynamoDB client with {@link exactNumbers}. */
export function documentClient({
  requestTimeout = REQUEST_TIMEOUT_MS,
  maxAttempts = 1,
}: ClientOptions = {}): DynamoDBDocumentClient {
  const requestHandler = new DeadlineHandler({ connectionTimeout: 1_000, requestTimeout });
  const client = new DynamoDBClient({ maxAttempts, requestHandler });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** DynamoDB's names for throttling: of errors, and of the reasons why a transaction was canceled. */
const THROTTLED: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingError',
  'ThrottlingException',
]);
/** Its names, within transactions, for the writes of others: a conflict, and an entry that has changed meanwhile. */
const CONTENDED = new Set(['ConditionalCheckFailed', 'TransactionConflict', 'TransactionConflictException']);
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);
const DISCONNECTED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * The outcome of a failed call:
 * - `throttled`: DynamoDB throttled it. It was not applied.
 * - `contended`: another write came before its transaction. It was not applied.
 * - `unreached`: the connection was refused, or the host not found. It was not applied.
 * - `disconnected`: the connection was closed. DynamoDB closes idle ones, and a function that was frozen meanwhile
 *   notices only when it uses one: the call usually was not applied, but may have been.
 * - `unanswered`: it failed in any other way, and may have been sent. It may have been applied, or may still be.
 * - `faulty`: DynamoDB refused it, or the failure is a bug of ours. It was not applied.
 */
type Failure = 'throttled' | 'contended' | 'unreached' | 'disconnected' | 'unanswered' | 'faulty';

/** `$fault` is the SDK's for responses of DynamoDB; `$metadata` for failures of an attempt to send a call. */
type CallError = Error & { readonly code?: string; readonly $fault?: 'client' | 'server'; readonly $metadata?: object };

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return 'faulty';
  const { name, code = '', $fault, $metadata }: CallError = error;
  if (THROTTLED.has(name)) return 'throttled';
  if (CONTENDED.has(name)) return 'contended';
  if (UNREACHABLE.has(code)) return 'unreached';
  if (DISCONNECTED.has(code)) return 'disconnected';
  return $metadata && $fault !== 'client' ? 'unanswered' : 'faulty';
}

const isOneOf =
  (...failures: readonly Failure[]) =>
  (error: unknown): boolean =>
    failures.includes(failureOf(error));

/** Whether the connection was refused, or the host not found. */
export const isUnreachable = isOneOf('unreached');
export const isThrottled = isOneOf('throttled');
export const isConnectionGone = isOneOf('disconnected');

/** Whether a call was certainly not applied, and can be retried. */
export const wasRefused = isOneOf('throttled', 'contended', 'unreached');

/** Whether a call may have been applied, or may still be. */
export const isResponseLost = isOneOf('disconnected', 'unanswered');

/** Whether the failure is DynamoDB's or the network's, not the request's. */
export const isUnavailable = (error: unknown): boolean => failureOf(error) !== 'faulty';

/** Reads from DynamoDB, with up to three attempts if it is unavailable. @throws the last failure */
export const readWithRetries = <Result>(read: () => Promise<Result>): Promise<Result> =>
  retry(read, isUnavailable, { maxAttempts: 3 });

/** The response to any failure: the pipeline's, as stores throw what happened. */
export const responseTo = (failure: unknown): ServiceError =>
  isUnavailable(failure) ? unavailable(failure) : serviceErrorOf(failure);

/** The response if DynamoDB is unavailable. */
export const unavailable = (cause: unknown, message?: string): ServiceError =>
  new ServiceError('SERVICE_UNAVAILABLE', { message, headers: { 'Retry-After': '1' }, cause });

/**
 * Deadline to start an attempt. An attempt of a change (read and write) takes up to six seconds, so changes end after
 * eleven, and their functions have 15. The authorizer has ten: it only writes, which takes up to three.
 */
export const LAST_ATTEMPT_AFTER_MS = 5_000;
const MAX_PAUSE_MS = 250;

export interface RetryOptions {
  /** Max attempts, including the first. */
  readonly maxAttempts?: number;
  /** Unix milliseconds after which no attempt begins. */
  readonly retryUntil?: number;
}

/**
 * Retries while `mayRepeat` holds for the failure, with exponential backoff and jitter, or
 * colliding callers would collide again.
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
