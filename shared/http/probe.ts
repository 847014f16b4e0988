import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * One call of a function's own store, for which it needs the rights of all that it does there. It changes nothing. It
 * runs while Lambda initializes the function, and again where a release invokes a new version without a request.
 *
 * @throws what a request would fail with
 */
export type Probe = () => Promise<unknown>;

/** Longest that a cold start waits for its probe, in milliseconds. */
const WARM_UP_MS = 1_000;

/** A probe begins no later than this before its function is stopped, in milliseconds. */
const LAST_ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;

/** Runs a probe for what the first call of DynamoDB sets up: the connection, TLS, the lazy parts of the client. */
export async function warmUp(probe: Probe): Promise<void> {
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, WARM_UP_MS);
  try {
    await Promise.race([probe(), timedOut]);
  } catch {
    // Nothing is lost but time: the first request makes its own call, and its client and the log get the failure.
  } finally {
    clearTimeout(timer);
  }
}

/** Whether API Gateway sent an event: its events have a request context. Any other, or none, asks for the probe. */
export const isRequest = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'requestContext' in event;

/**
 * Checks a function before a release gives it requests.
 *
 * @param args of its handler beside the event: the context, after the stream of a handler that streams
 * @throws what the probe fails with: a failure of the function
 */
export async function runProbe(probe: Probe, args: readonly unknown[]): Promise<undefined> {
  const context = args.find(isContext);
  while (!(await isPassed(probe, context))) await sleep(PAUSE_MS);
  for (const stream of args) if (stream instanceof Writable) stream.end();
  return undefined;
}

/** False where the probe may pass later: what IAM has just granted may take some seconds until it counts everywhere. */
async function isPassed(probe: Probe, context: LambdaContext | undefined): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch (error) {
    const isRefused = error instanceof Error && error.name === 'AccessDeniedException';
    if (!isRefused || (context?.getRemainingTimeInMillis() ?? 0) < LAST_ATTEMPT_MS) throw error;
    return false;
  }
}

interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

const isContext = (value: unknown): value is LambdaContext =>
  typeof value === 'object' && value !== null && 'getRemainingTimeInMillis' in value;
