import * as v from 'valibot';
import { int64Schema } from './contract/int64.ts';

/** Longest that a cold start waits for the call, in milliseconds. */
const TIMEOUT_MS = 1_000;

/** Id of the item that is read; whether there is one does not matter. */
export const ANY_ID = v.parse(int64Schema, '0');

/**
 * Makes a call of DynamoDB for what the first one sets up: the connection, TLS, the lazy parts of the SDK. Waited for
 * while Lambda initialises the function, it makes the first request nearly as fast as those that follow.
 *
 * @param call one that the function is allowed to make anyway, and that changes nothing
 */
export async function warmUp(call: () => Promise<unknown>): Promise<void> {
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, TIMEOUT_MS);
  try {
    await Promise.race([call(), timedOut]);
  } catch {
    // Nothing is lost but time: the first request makes its own call, and tells its client and the log if that fails.
  } finally {
    clearTimeout(timer);
  }
}
