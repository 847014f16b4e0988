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

/** Headers of a function's answer that API Gateway passes on under another name. */
const REMAPPED = new Set(
  (
    'authorization connection content-length content-md5 date expect host max-forwards proxy-authenticate server te ' +
    'trailer upgrade user-agent www-authenticate'
  ).split(' '),
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
  return { status: statusCode, headers: passedOn(Object.entries(headers)), body: Buffer.from(body) };
}

export const malformed = (): GatewayError => new GatewayError('DEFAULT_5XX', 'Malformed Lambda proxy response');

/** The answer is JSON unless the function says something else. */
function passedOn(headers: HeaderFields): HeaderFields {
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const renamed = headers.map(([name, value]): [string, string] => [
    REMAPPED.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name,
    value,
  ]);
  return hasType ? renamed : [['Content-Type', 'application/json'], ...renamed];
}
