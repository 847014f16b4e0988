import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { RawAnswer } from '../support/documented-api.ts';
import type { FuzzedRequest } from './fuzzed-requests.ts';

/** Sends a request as it is, odd as it may be: `fetch` would put it right. */
export async function sendRaw(
  baseUrl: string,
  agent: http.Agent,
  token: string,
  request: FuzzedRequest,
): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(baseUrl);
  const { method, body } = request;
  const path = pathname + request.path;
  // By itself Node.js would send the body of a GET without saying how long it is.
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = { Authorization: `Bearer ${token}`, ...request.headers, ...length };
  const call = http.request({ agent, hostname, port, method, path, headers }).end(body);
  const [message]: IncomingMessage[] = await once(call, 'response');
  if (!message) throw new Error('There is no answer');
  const bytes = await buffer(message);
  const isCompressed = message.headers['content-encoding'] === 'gzip' && method !== 'HEAD';
  return {
    status: message.statusCode ?? 0,
    headers: new Headers(Object.entries(message.headersDistinct).map(([name, all = []]) => [name, all.join(', ')])),
    text: (isCompressed ? gunzipSync(bytes) : bytes).toString(),
  };
}
