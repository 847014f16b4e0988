import { connect } from 'node:net';
import type { RawResponse } from './promises.ts';
import { HANG_MS } from './until.ts';

/** Sends bytes to a server and returns what it sends back until it closes the connection. */
export async function exchange(origin: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(origin);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect(Number(port), hostname);
  socket.setTimeout(HANG_MS, () => socket.destroy(new Error('The server neither responds nor closes the connection')));
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', reject);
  socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  socket.write(bytes);
  return promise;
}

export function parseResponse(text: string): RawResponse {
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [statusLine = '', ...fields] = head.split('\r\n');
  const headers = new Headers(fields.map((field): [string, string] => splitAt(field, ': ')));
  const rest = body.join('\r\n\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text: headers.get('Transfer-Encoding') === 'chunked' ? joinChunks(rest) : rest,
  };
}

function joinChunks(text: string): string {
  const [size, rest] = splitAt(text, '\r\n');
  const length = Number.parseInt(size, 16);
  return length > 0 ? rest.slice(0, length) + joinChunks(rest.slice(length + 2)) : '';
}

function splitAt(text: string, separator: string): [string, string] {
  const [first = '', ...rest] = text.split(separator);
  return [first, rest.join(separator)];
}
