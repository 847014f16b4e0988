import type { Readable } from 'node:stream';
import * as v from 'valibot';
import { GatewayError } from './gateway-error.ts';
import { type GatewayAnswer, headerValues, type HeaderFields, type StreamedAnswer } from './messages.ts';

const headerValue = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** A map of headers. A list would pass for one whose names are its indices. */
const headersOf = <Value extends v.GenericSchema>(value: Value) =>
  v.nullish(
    v.pipe(
      v.custom<object>((map) => !Array.isArray(map)),
      v.record(v.string(), value),
    ),
    {},
  );

/** What a function must return to an AWS_PROXY integration (API Gateway developer guide, "output format"). */
const proxyResultSchema = v.object({
  statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
  headers: headersOf(headerValue),
  multiValueHeaders: headersOf(v.array(headerValue)),
  body: v.nullish(v.string(), ''),
});

/** Headers of a function's answer that API Gateway passes on under another name. */
const REMAPPED = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-md5',
  'date',
  'expect',
  'host',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'upgrade',
  'user-agent',
  'www-authenticate',
]);

/**
 * Turns the result of a function into the answer.
 *
 * @param payload JSON text
 * @throws GatewayError DEFAULT_5XX where the result has another shape
 */
export function answerOf(payload: string): GatewayAnswer {
  const { body, ...head } = parseResult(payload);
  return { ...headOf(head), body: Buffer.from(body) };
}

/**
 * Turns the metadata that a function streams ahead of its body into the answer.
 *
 * @param metadata JSON text
 * @throws GatewayError DEFAULT_5XX where it has another shape
 */
export function streamedAnswerOf(metadata: string, body: Readable): StreamedAnswer {
  return { ...headOf(parseResult(metadata)), body };
}

type ProxyResult = v.InferOutput<typeof proxyResultSchema>;

function parseResult(text: string): ProxyResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed();
  }
  const result = v.safeParse(proxyResultSchema, value);
  if (!result.success) throw malformed();
  return result.output;
}

const malformed = (): GatewayError => new GatewayError('DEFAULT_5XX', 'Malformed Lambda proxy response');

function headOf({ statusCode, headers, multiValueHeaders }: Omit<ProxyResult, 'body'>) {
  return { status: statusCode, headers: withContentType(mergeHeaders(headers, multiValueHeaders)) };
}

/** `multiValueHeaders` wins over the same name in `headers`. */
function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  multiValueHeaders: Readonly<Record<string, readonly string[]>>,
): HeaderFields {
  const multiple = Object.entries(multiValueHeaders).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const names = new Set(multiple.map(([name]) => name.toLowerCase()));
  const single = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return [...single, ...multiple].map(([name, value]) => [
    REMAPPED.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name,
    value,
  ]);
}

function withContentType(headers: HeaderFields): HeaderFields {
  const hasOne = headerValues(headers, 'content-type').length > 0;
  return hasOne ? headers : [['Content-Type', 'application/json'], ...headers];
}
