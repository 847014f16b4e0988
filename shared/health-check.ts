import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { int64Schema } from './contract/int64.ts';

/** Longest that a cold start waits for its first call, in milliseconds. */
const WARM_UP_MS = 1_000;

/** Id of an item that is read; whether there is one does not matter. */
export const ANY_ID = v.parse(int64Schema, '0');

/**
 * Calls DynamoDB for whatever its function may do there, and changes nothing.
 *
 * @throws what a request would fail with
 */
type HealthCheck = () => Promise<unknown>;

/**
 * Makes a call of DynamoDB for what the first one sets up: the connection, TLS, the lazy parts of the SDK. Waited for while Lambda
 * initialises the function, it makes the first request nearly as fast as those that follow.
 */
export async function warmUp(check: HealthCheck): Promise<void> {
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, WARM_UP_MS);
  try {
    await Promise.race([check(), timedOut]);
  } catch {
    // Nothing is lost but time: the first request makes its own call, and tells its client and the log if that fails.
  } finally {
    clearTimeout(timer);
  }
}

/** A check begins no later than this before its function is stopped. */
const LAST_TRY_MS = 3_000;
const PAUSE_MS = 500;

/**
 * Lets a handler prove itself before a release gives it requests. An event without a request context, such as none at
 * all, runs the check, and its failure is one of the function; everything from API Gateway has such a context.
 *
 * @param handler one that answers or one that streams; it keeps its type and its marks
 */
export function withHealthCheck<Handler extends (...args: never[]) => unknown>(
  check: HealthCheck,
  handler: Handler,
): Handler {
  return new Proxy(handler, {
    apply: (target, self, args: readonly unknown[]) =>
      isRequest(args[0]) ? Reflect.apply(target, self, args) : prove(check, args),
  });
}

const isRequest = (event: unknown): boolean => typeof event === 'object' && event !== null && 'requestContext' in event;

async function prove(check: HealthCheck, args: readonly unknown[]): Promise<void> {
  const context = args.find(isContext);
  for (;;) {
    try {
      await check();
      break;
    } catch (error) {
      // What IAM has just granted may take some seconds until it counts everywhere.
      const isRefused = error instanceof Error && error.name === 'AccessDeniedException';
      if (!isRefused || (context?.getRemainingTimeInMillis() ?? 0) < LAST_TRY_MS) throw error;
    }
    await sleep(PAUSE_MS);
  }
  for (const stream of args) if (stream instanceof Writable) stream.end();
}

const isContext = (value: unknown): value is { getRemainingTimeInMillis(): number } =>
  typeof value === 'object' && value !== null && 'getRemainingTimeInMillis' in value;
