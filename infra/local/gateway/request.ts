import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { bareAddress } from '../addresses.ts';
import type { Match } from './router.ts';

/** Header fields in the order and case as sent. */
export type HeaderFields = readonly (readonly [name: string, value: string])[];

/** Max body of API Gateway. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

export type GatewayRequest = Awaited<ReturnType<typeof readRequest>>;

export async function readRequest(message: IncomingMessage, stage: string) {
  const id: string = randomUUID();
  const [path = '', ...query] = requestTarget(message).split('?');
  return {
    id,
    /** Unix milliseconds. */
    receivedAt: Date.now(),
    method: message.method ?? 'GET',
    /** Below the stage, as sent: `/inventory/1`. */
    path: path.slice(stage.length + 1) || '/',
    query: query.join('?'),
    headers: headerFields(message.rawHeaders),
    ...(await readBody(message)),
    sourceIp: bareAddress(message.socket.remoteAddress ?? ''),
  };
}

/** Path and query of a request, also if a client sends the complete URL (RFC 9112 §3.2.2). */
export const requestTarget = ({ url = '/' }: IncomingMessage): string => url.replace(/^https?:\/\/[^/?]*/i, '');

/** A body that is too long is read to its end and discarded. */
async function readBody(message: IncomingMessage) {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  return { body: Buffer.concat(chunks), bodyTooLarge: length > MAX_BODY_BYTES };
}

const headerFields = (rawHeaders: readonly string[]): HeaderFields =>
  rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : []));

/** The used parts of `$context`, and of `requestContext` of the event, before routing. */
export function requestContext(request: GatewayRequest, { apiId, stage }: Record<'apiId' | 'stage', string>) {
  return {
    apiId,
    httpMethod: request.method,
    identity: {
      sourceIp: request.sourceIp,
      userAgent: request.headers.findLast(([name]) => name.toLowerCase() === 'user-agent')?.[1] ?? null,
    },
    path: `/${stage}${request.path}`,
    requestId: request.id,
    requestTimeEpoch: request.receivedAt,
    stage,
  };
}

/**
 * The part of the event that a REQUEST authorizer and an AWS_PROXY integration (payload version 1.0) share.
 * Shape: API Gateway developer guide, "Lambda proxy integrations" and "Lambda authorizer input".
 *
 * @param context of the request and of its resource
 */
export function requestEvent<Context extends object>(
  request: GatewayRequest,
  { resourcePath, pathParameters }: Omit<Match<unknown>, 'target'>,
  context: Context,
) {
  const multiValueHeaders = valuesByName(request.headers, (name) => name.toLowerCase());
  const multiValueQuery = valuesByName([...new URLSearchParams(`?${request.query}`)], (name) => name);
  return {
    resource: resourcePath,
    path: request.path.replace(/^\/+/, '/'),
    httpMethod: request.method,
    headers: lastValues(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: nullIfEmpty(lastValues(multiValueQuery)),
    multiValueQueryStringParameters: nullIfEmpty(multiValueQuery),
    pathParameters: nullIfEmpty(pathParameters),
    requestContext: context,
  };
}

/** Groups pairs by the key of their name, under its first spelling. In one pass: there may be thousands. */
function valuesByName(pairs: HeaderFields, keyOf: (name: string) => string): Record<string, string[]> {
  const groups = Map.groupBy(pairs, ([name]) => keyOf(name)).values();
  return Object.fromEntries([...groups].map((group) => [group[0]?.[0], group.map(([, value]) => value)]));
}

/** The last value of each name, as in API Gateway's single-value maps. */
const lastValues = (groups: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']));

const nullIfEmpty = <Value extends object>(value: Value): Value | null =>
  Object.keys(value).length === 0 ? null : value;
