import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls DynamoDB for whatever its function may do there, and changes nothing.
 *
 * @throws what a request would fail with
 */
export type HealthCheck = () => Promise<unknown>;

/** A check begins no later than this before its function is stopped. */
const LAST_TRY_MS = 3_000;
const PAUSE_MS = 500;

/** Whether API Gateway sent an event: each of its has a request context. Any other event, such as none, asks for a health check. */
export const isRequest = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'requestContext' in event;

/**
 * Lets a function prove itself before a release gives it requests.
 *
 * @param args of its handler beside the event: the context, after the stream of a handler that streams
 * @throws what the check fails with: a failure of the function
 */
export async function prove(check: HealthCheck, args: readonly unknown[]): Promise<undefined> {
  const context = args.find(isContext);
  while (!(await isPassed(check, context))) await sleep(PAUSE_MS);
  for (const stream of args) if (stream instanceof Writable) stream.end();
  return undefined;
}

/** False where the check may pass later: what IAM has just granted may take some seconds until it counts everywhere. */
async function isPassed(check: HealthCheck, context: LambdaContext | undefined): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    const isRefused = error instanceof Error && error.name === 'AccessDeniedException';
    if (!isRefused || (context?.getRemainingTimeInMillis() ?? 0) < LAST_TRY_MS) throw error;
    return false;
  }
}

interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

const isContext = (value: unknown): value is LambdaContext =>
  typeof value === 'object' && value !== null && 'getRemainingTimeInMillis' in value;
