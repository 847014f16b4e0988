import { Agent, type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { RawAnswer } from '../support/every-answer.ts';

export interface WireRequest {
  readonly method: string;
  /** Whole path with query, as it goes over the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
}

/** A client that sends what it is told to, odd as it may be, over a few connections that stay open. */
export class WireClient {
  readonly #origin: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 12 });

  constructor(origin: string) {
    this.#origin = new URL(origin);
  }

  async send({ method, path, headers, body }: WireRequest): Promise<RawAnswer> {
    const { hostname, port } = this.#origin;
    // By itself Node.js would send the body of a GET without saying how long it is.
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const call = request({ agent: this.#agent, hostname, port, method, path, headers: { ...headers, ...length } });
    call.end(body);
    const [message]: IncomingMessage[] = await once(call, 'response');
    if (!message) throw new Error('There is no answer');
    const bytes = await buffer(message);
    const isCompressed = message.headers['content-encoding'] === 'gzip' && method !== 'HEAD';
    return {
      status: message.statusCode ?? 0,
      headers: new Headers(pairs(message.rawHeaders)),
      text: (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8'),
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
}
