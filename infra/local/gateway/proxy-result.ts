import * as v from 'valibot';
import { GatewayError } from './gateway-error.ts';
import type { GatewayAnswer, HeaderFields } from './messages.ts';

const headerValue = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** An object, and no list, which `v.record` takes too. */
const headersOf = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    v.custom<object>((headers) => !Array.isArray(headers)),
    v.record(v.string(), value),
  );

/** What a function must return to an AWS_PROXY integration (API Gateway developer guide, "output format"), as JSON text. */
const proxyResultSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
    headers: v.nullish(headersOf(headerValue), {}),
    multiValueHeaders: v.nullish(headersOf(v.array(headerValue)), {}),
    body: v.nullish(v.string(), ''),
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
  const { statusCode, headers, multiValueHeaders, body } = parsed.output;
  return { status: statusCode, headers: mergeHeaders(headers, multiValueHeaders), body: Buffer.from(body) };
}

export const malformed = (): GatewayError => new GatewayError('DEFAULT_5XX', 'Malformed Lambda proxy response');

/** `multiValueHeaders` wins over the same name in `headers`. The answer is JSON unless one of them says something else. */
function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  multiValueHeaders: Readonly<Record<string, readonly string[]>>,
): HeaderFields {
  const multiple = Object.entries(multiValueHeaders).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const multipleNames = new Set(multiple.map(([name]) => name.toLowerCase()));
  const single = Object.entries(headers).filter(([name]) => !multipleNames.has(name.toLowerCase()));
  const all = [...single, ...multiple];
  const hasType = all.some(([name]) => name.toLowerCase() === 'content-type');
  const renamed = all.map(([name, value]): [string, string] => [
    REMAPPED.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name,
    value,
  ]);
  return hasType ? renamed : [['Content-Type', 'application/json'], ...renamed];
}
