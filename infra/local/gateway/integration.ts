import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { effectiveTimeout, FunctionError } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { GatewayError } from './gateway-responses.ts';
import type { GatewayHttpResponse } from './messages.ts';
import { responseOf, malformed } from './proxy-result.ts';

/**
 * Invokes a function for an AWS_PROXY integration. After the timeout the function keeps running, as on AWS; only its
 * response is ignored.
 *
 * @throws GatewayError DEFAULT_5XX (502) or INTEGRATION_TIMEOUT
 */
export async function integrate(
  lambda: LambdaFunction,
  event: string,
  timeoutMs: number,
): Promise<GatewayHttpResponse> {
  try {
    return responseOf(lambda.name, await invokeWithin(lambda, event, timeoutMs));
  } catch (error) {
    throw gatewayErrorOf(error);
  }
}

/**
 * Invokes a function, with a timeout for start and end together. @throws GatewayError
 * INTEGRATION_TIMEOUT
 */
export async function invokeWithin(
  lambda: Pick<LambdaFunction, 'invoke'>,
  event: string,
  timeoutMs: number,
): Promise<string> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timeoutError()), effectiveTimeout(timeoutMs));
  return Promise.race([lambda.invoke(event), timedOut]).finally(() => clearTimeout(timer));
}

/**
 * Invokes a function for a streaming AWS_PROXY integration. It waits only for the metadata. The body fails if
 * the function fails or times out; a caller that does not read it must destroy it.
 *
 * @throws GatewayError DEFAULT_5XX (502) or INTEGRATION_TIMEOUT
 */
export async function integrateStreaming(
  lambda: LambdaFunction,
  event: string,
  timeoutMs: number,
): Promise<GatewayHttpResponse<Readable>> {
  const body = lambda.stream(event);
  const timer = setTimeout(() => body.destroy(timeoutError()), effectiveTimeout(timeoutMs));
  body.once('close', () => clearTimeout(timer));
  try {
    await once(body, 'readable');
    const metadata: unknown = body.read();
    if (typeof metadata !== 'string') throw malformed(lambda.name, 'no metadata before its body');
    return { ...responseOf(lambda.name, metadata), body };
  } catch (error) {
    body.destroy();
    throw gatewayErrorOf(error);
  } finally {
    // The reader of the body gets its failure; there may be no reader.
    body.on('error', () => undefined);
  }
}

const timeoutError = (): GatewayError => new GatewayError('INTEGRATION_TIMEOUT', 'Endpoint request timed out');

const gatewayErrorOf = (error: unknown): unknown =>
  error instanceof FunctionError ? new GatewayError('DEFAULT_5XX', 'Internal server error') : error;
