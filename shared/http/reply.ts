import type { Readable } from 'node:stream';

/** An answer before the pipeline has put its headers on. */
export interface Reply<Body = string> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text, or a stream of it. */
  readonly body: Body;
}

/** What Lambda hands to API Gateway; for a streamed answer all but the body goes ahead. */
export interface ProxyResult<Body = string> {
  readonly statusCode: number;
  headers: Record<string, string>;
  readonly body: Body;
}

export type StreamedReply = Reply<string | Readable>;

export function toResult<Body>({ status, headers, body }: Reply<Body>): ProxyResult<Body> {
  return { statusCode: status, headers: { 'Content-Type': 'application/json', ...headers }, body };
}
