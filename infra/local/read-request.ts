import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { GatewayRequest, HeaderFields } from './gateway/proxy-event.ts';
import { bareAddress } from './listening.ts';

/** Max body of API Gateway. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** A request without the stage in its path. */
export async function readRequest(message: IncomingMessage, stage: string): Promise<GatewayRequest> {
  const receivedAt = Date.now();
  const [path = '', ...query] = requestTarget(message).split('?');
  return {
    id: randomUUID(),
    receivedAt,
    method: message.method ?? 'GET',
    path: path.slice(stage.length + 1) || '/',
    query: query.join('?'),
    headers: headerFields(message.rawHeaders),
    ...(await readBody(message)),
    sourceIp: bareAddress(message.socket.remoteAddress ?? ''),
    protocol: `HTTP/${message.httpVersion}`,
  };
}

/** Path and query of a request, also if a client sends the complete URL (RFC 9112 §3.2.2). */
export function requestTarget({ url = '/' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

/** A body that is too long is read to its end and discarded. */
async function readBody(message: IncomingMessage): Promise<Pick<GatewayRequest, 'body' | 'bodyTooLarge'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  return { body: Buffer.concat(chunks), bodyTooLarge: length > MAX_BODY_BYTES };
}

function headerFields(rawHeaders: readonly string[]): HeaderFields {
  const fields: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    fields.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return fields;
}
