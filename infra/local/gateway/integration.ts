import { once } from 'node:events';
import * as v from 'valibot';
import { writeNotice } from '../local-server-error.ts';
import { effectiveTimeout, FunctionError, type LambdaFunction } from '../lambda/lambda-functions.ts';
import { GatewayError, type GatewayErrorType, type GatewayHttpResponse } from './gateway-responses.ts';

/** Invokes a function for an AWS_PROXY integration. @throws GatewayError DEFAULT_5XX (502) or INTEGRATION_TIMEOUT */
export async function integrate(lambda: LambdaFunction, event: string, timeoutMs: number) {
  return responseOf(lambda.name, await invokeWithin(lambda, event, timeoutMs, 'DEFAULT_5XX'));
}

/**
 * Invokes a function, with a timeout for start and end together. After it the function keeps running, as on AWS; only
 * its response is ignored.
 *
 * @throws GatewayError INTEGRATION_TIMEOUT, or of a type for a failure of the function
 */
export async function invokeWithin(
  lambda: Pick<LambdaFunction, 'invoke'>,
  event: string,
  timeoutMs: number,
  failureType: GatewayErrorType,
): Promise<string> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timeoutError()), effectiveTimeout(timeoutMs));
  const result = lambda.invoke(event).catch((error: unknown) => fail(error, failureType));
  return Promise.race([result, timedOut]).finally(() => clearTimeout(timer));
}

/**
 * Invokes a function for a streaming AWS_PROXY integration. It waits only for the metadata. The body fails if
 * the function fails or times out; a caller that does not read it must destroy it.
 *
 * @throws GatewayError DEFAULT_5XX (502) or INTEGRATION_TIMEOUT
 */
export async function integrateStreaming(lambda: LambdaFunction, event: string, timeoutMs: number) {
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
    return fail(error, 'DEFAULT_5XX');
  } finally {
    // The reader of the body gets its failure; there may be no reader.
    body.on('error', () => undefined);
  }
}

const timeoutError = (): GatewayError => new GatewayError('INTEGRATION_TIMEOUT', 'Endpoint request timed out');

function fail(error: unknown, type: GatewayErrorType): never {
  throw error instanceof FunctionError ? new GatewayError(type, 'Internal server error') : error;
}

const headerValue = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

/**
 * What a function must return to an AWS_PROXY integration (API Gateway developer guide, "output format"), limited to
 * what this API uses.
 */
const proxyResultSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
    headers: v.optional(v.record(v.string(), headerValue), {}),
    body: v.optional(v.string(), ''),
    // Not decoded: the API has no binary media types.
    isBase64Encoded: v.optional(v.boolean()),
  }),
);

/**
 * The response for the result of a function, or for the metadata before a streamed body.
 *
 * @throws GatewayError DEFAULT_5XX if it has another format; the terminal names the function
 */
function responseOf(functionName: string, result: string): GatewayHttpResponse {
  const parsed = v.safeParse(proxyResultSchema, result);
  if (!parsed.success) throw malformed(functionName, reasonsOf(parsed.issues));
  const { statusCode, headers, body } = parsed.output;
  // The last of a name holds. A response with content is JSON unless the function sets another type.
  const type = statusCode !== 304 && { 'Content-Type': 'application/json' };
  const byName = new Map(Object.entries({ ...type, ...headers }).map((field) => [field[0].toLowerCase(), field]));
  return { status: statusCode, headers: [...byName.values()], body: Buffer.from(body) };
}

/** The errors of a result, without its values. */
export const reasonsOf = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues.map((issue) => `${v.getDotPath(issue) ?? 'the result'} must be ${issue.expected ?? 'valid'}`).join(', ');

function malformed(functionName: string, reason: string): GatewayError {
  writeNotice(`${functionName} returned a malformed Lambda proxy response: ${reason}`);
  return new GatewayError('DEFAULT_5XX', 'Malformed Lambda proxy response');
}
