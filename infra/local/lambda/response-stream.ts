import { Writable } from 'node:stream';
import { callbackify } from 'node:util';

/** Marker of streaming handlers (AWS Lambda runtime interface client for Node.js). */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');

export type StreamingHandler = (event: unknown, stream: Writable, context: unknown) => Promise<unknown>;

/** A part of a streamed response: the metadata of an HTTP response as JSON text, then the bytes of its body. */
export type ResponsePart = string | Uint8Array;

/** The stream for a streaming handler's response. */
export class ResponseStream extends Writable {
  /** Undefined once the response has begun. */
  #metadata: string[] | undefined = [];
  readonly #send: (part: ResponsePart) => Promise<void>;

  /** @param send resolves when the reader takes the part (backpressure), or will take no more */
  constructor(send: (part: ResponsePart) => Promise<void>) {
    super();
    this.#send = send;
  }

  /** Sent before the first chunk. */
  setMetadata(metadata: unknown): void {
    if (!this.#metadata) throw new Error('Cannot set metadata: the response has begun.');
    this.#metadata = [JSON.stringify(metadata)];
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const parts = [...(this.#metadata ?? []), chunk];
    this.#metadata = undefined;
    callbackify(async () => {
      for (const part of parts) await this.#send(part);
    })(done);
  }
}

/** The global of Lambda's Node.js runtime. */
export const awslambda = {
  streamifyResponse: (handler: StreamingHandler): StreamingHandler =>
    Object.assign(handler, { [STREAMING]: 'response' }),
  HttpResponseStream: {
    from: (stream: ResponseStream, metadata: unknown): ResponseStream => {
      stream.setMetadata(metadata);
      return stream;
    },
  },
};

export const streamsResponse = (handler: object): boolean => STREAMING in handler;
