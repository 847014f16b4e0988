import * as v from 'valibot';
import { writeNotice } from '../host-error.ts';
import { GatewayError } from './gateway-responses.ts';
import type { GatewayHttpResponse, HeaderFields } from './messages.ts';

const headerValue = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

/**
 * What a function must return to an AWS_PROXY integration (API Gateway developer guide, "output format"), as JSON text.
 */
const proxyResultSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
    headers: v.optional(v.record(v.string(), headerValue), {}),
    multiValueHeaders: v.optional(v.record(v.string(), v.array(headerValue)), {}),
    body: v.optional(v.string(), ''),
    // Not decoded: the API has no binary media types.
    isBase64Encoded: v.optional(v.boolean()),
  }),
);

/**
 * Converts the result of a function, or the metadata before a streamed body, into the response.
 *
 * @param functionName for the terminal, if the result is malformed
 * @param result JSON text
 * @throws GatewayError DEFAULT_5XX if the result has another format
 */
export function responseOf(functionName: string, result: string): GatewayHttpResponse {
  const parsed = v.safeParse(proxyResultSchema, result);
  if (!parsed.success) throw malformed(functionName, reasonsOf(parsed.issues));
  const { statusCode, headers, multiValueHeaders, body } = parsed.output;
  const lists = Object.entries(multiValueHeaders);
  const replaced = new Set(lists.map(([name]) => name.toLowerCase()));
  const fields = [
    ...Object.entries(headers).filter(([name]) => !replaced.has(name.toLowerCase())),
    ...lists.flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
  ];
  return { status: statusCode, headers: withType(fields), body: Buffer.from(body) };
}

/** The errors of a result, without its values. */
export const reasonsOf = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues.map((issue) => `${v.getDotPath(issue) ?? 'the result'} must be ${issue.expected ?? 'valid'}`).join(', ');

export function malformed(functionName: string, reason: string): GatewayError {
  writeNotice(`${functionName} returned a malformed Lambda proxy response: ${reason}`);
  return new GatewayError('DEFAULT_5XX', 'Malformed Lambda proxy response');
}

/** The response is JSON unless the function sets another type. */
function withType(headers: HeaderFields): HeaderFields {
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return hasType ? headers : [['Content-Type', 'application/json'], ...headers];
}
