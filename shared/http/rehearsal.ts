import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { int64Schema } from '../contract/int64.ts';

/** Id of an item that is read; whether there is one does not matter. */
export const ANY_ID = v.parse(int64Schema, '0');

/** Longest that a cold start waits for its first call, in milliseconds. */
const WARM_UP_MS = 1_000;

/**
 * Makes a call of DynamoDB for what the first one sets up: the connection, TLS, the lazy parts of the SDK. Waited for while Lambda
 * initialises the function, it makes the first request nearly as fast as those that follow.
 */
export async function warmUp(call: () => Promise<unknown>): Promise<void> {
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, WARM_UP_MS);
  try {
    await Promise.race([call(), timedOut]);
  } catch {
    // Nothing is lost but time: the first request makes its own call, and its client and the log get the failure.
  } finally {
    clearTimeout(timer);
  }
}

interface Rehearsed {
  readonly httpMethod: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** In the place of the gateway's id of a request. */
const REHEARSAL = 'rehearsal';

const authorizer = {
  outcome: 'ADMITTED',
  access: 'full',
  recordId: REHEARSAL,
  limit: '1',
  remaining: '0',
  reset: '1',
  rateLimitPolicy: '',
  rateLimit: '',
  retryAfter: '1',
};

/**
 * Warms a function up with a request of no client, for {@link ANY_ID}: the first real one then finds everything connected,
 * loaded and compiled. It must change nothing; it is not logged.
 */
export function rehearse(
  handler: (event: never, context: Context) => Promise<unknown>,
  { httpMethod, headers = {}, body = '' }: Rehearsed,
): Promise<void> {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const requestContext = { requestId: REHEARSAL, requestTimeEpoch: Date.now(), authorizer };
  const event = { httpMethod, pathParameters: { petId: ANY_ID }, multiValueHeaders, body, isBase64Encoded: false };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of an event, and of the context, that is read
  return warmUp(() => handler({ ...event, requestContext } as never, {} as Context));
}

export const isRehearsal = (requestId: string): boolean => requestId === REHEARSAL;
