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
