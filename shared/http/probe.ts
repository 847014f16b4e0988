import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * One call of a function's own store, which requires all permissions of the function there. It changes nothing. It
 * runs while Lambda initializes the function, and again when a release invokes a new version without a request.
 *
 * @throws the error that a request would fail with
 */
export type Probe = () => Promise<unknown>;

/** Max wait of a cold start for its probe, in milliseconds. */
const WARM_UP_MS = 1_000;

/** Min time left before the function times out to start a probe, in milliseconds. */
const LAST_ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;

/** Runs a probe to set up what the first call of DynamoDB needs: the connection, TLS, the client's lazy parts. */
export async function warmUp(probe: Probe): Promise<void> {
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, WARM_UP_MS);
  try {
    await Promise.race([probe(), timedOut]);
  } catch {
    // Only time is lost: the first request makes its own call, and reports its own failure.
  } finally {
    clearTimeout(timer);
  }
}

/** Whether API Gateway sent an event, with a request context. Any other event, or none, runs the probe. */
export const isRequest = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'requestContext' in event;

/**
 * Checks a function before a release routes traffic to it.
 *
 * @param args of its handler after the event: the context, after the stream of a streaming handler
 * @throws the probe's error, a failure of the function
 */
export async function runProbe(probe: Probe, args: readonly unknown[]): Promise<undefined> {
  const context = args.find(isContext);
  while (!(await isPassed(probe, context))) await sleep(PAUSE_MS);
  for (const stream of args) if (stream instanceof Writable) stream.end();
  return undefined;
}

/** False if the probe may pass later: new IAM permissions may take seconds to propagate. */
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
