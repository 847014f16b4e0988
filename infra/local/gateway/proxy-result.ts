import * as v from 'valibot';
import { GatewayError } from './gateway-responses.ts';
import type { GatewayAnswer, HeaderFields } from './messages.ts';

/**
 * What a function must return to an AWS_PROXY integration (API Gateway developer guide, "output format"), as JSON text.
 * What none of the functions returns, such as `multiValueHeaders`, is refused.
 */
const proxyResultSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
    headers: v.optional(v.record(v.string(), v.pipe(v.union([v.string(), v.number()]), v.transform(String))), {}),
    body: v.optional(v.string(), ''),
  }),
);

/**
 * Turns the result of a function, or the metadata that it streams ahead of its body, into the answer.
 *
 * @param result JSON text
 * @throws GatewayError DEFAULT_5XX where the result has another shape
 */
export function answerOf(result: string): GatewayAnswer {
  const parsed = v.safeParse(proxyResultSchema, result);
  if (!parsed.success) throw malformed();
  const { statusCode, headers, body } = parsed.output;
  return { status: statusCode, headers: withType(Object.entries(headers)), body: Buffer.from(body) };
}

export const malformed = (): GatewayError => new GatewayError('DEFAULT_5XX', 'Malformed Lambda proxy response');

/** The answer is JSON unless the function says something else. */
function withType(headers: HeaderFields): HeaderFields {
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return hasType ? headers : [['Content-Type', 'application/json'], ...headers];
}
