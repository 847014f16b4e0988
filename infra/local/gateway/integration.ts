import { pipeline, type Readable, Transform } from 'node:stream';
import { FunctionError, timeOutMs } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { DELIMITER } from '../lambda/response-stream.ts';
import { GatewayError } from './gateway-responses.ts';
import type { GatewayHttpResponse } from './messages.ts';
import { responseOf, malformed } from './proxy-result.ts';

/** Max bytes of the metadata and its delimiter (API Gateway developer guide). */
const MAX_METADATA_BYTES = 16 * 1024;

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
  const timer = setTimeout(() => reject(timeOut()), timeOutMs(timeoutMs));
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
  const { promise: metadata, resolve, reject } = Promise.withResolvers<string>();
  const body = afterMetadata(lambda.name, resolve);
  const timer = setTimeout(() => body.destroy(timeOut()), timeOutMs(timeoutMs));
  body.once('close', () => clearTimeout(timer));
  // The reader of the body gets its failure; there may be no reader.
  body.on('error', () => undefined);
  pipeline(lambda.stream(event), body, (error) => error && reject(gatewayErrorOf(error)));
  try {
    return { ...responseOf(lambda.name, await metadata), body };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

/** Passes on the data after the metadata. */
function afterMetadata(functionName: string, onMetadata: (metadata: string) => void): Transform {
  const noMetadata = (): GatewayError =>
    malformed(functionName, `no metadata in its first ${MAX_METADATA_BYTES} bytes`);
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      if (!head) return done(null, chunk);
      head = Buffer.concat([head, chunk]);
      const end = head.subarray(0, MAX_METADATA_BYTES).indexOf(DELIMITER);
      if (end < 0) return done(head.length < MAX_METADATA_BYTES ? null : noMetadata());
      onMetadata(head.toString('utf8', 0, end));
      const body = head.subarray(end + DELIMITER.length);
      head = undefined;
      return done(null, body);
    },
    flush: (done) => done(head ? noMetadata() : null),
  });
}

const timeOut = (): GatewayError => new GatewayError('INTEGRATION_TIMEOUT', 'Endpoint request timed out');

const gatewayErrorOf = (error: unknown): unknown =>
  error instanceof FunctionError ? new GatewayError('DEFAULT_5XX', 'Internal server error') : error;
