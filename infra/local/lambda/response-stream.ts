import { Writable } from 'node:stream';

/** How the runtime knows a handler that streams its response (AWS Lambda runtime interface client for Node.js). */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Between the metadata of an HTTP response and its body (API Gateway developer guide, "format for response streaming"). */
export const DELIMITER = Buffer.alloc(8);

export type StreamingHandler = (event: unknown, stream: Writable, context: unknown) => Promise<unknown>;

/** What a streaming handler writes its response to. */
export class ResponseStream extends Writable {
  #metadata: Buffer | undefined;
  #hasBegun = false;
  readonly #send: (chunk: Uint8Array) => Promise<void>;

  /** @param send resolves once the chunk has been taken, so that no more is read than is wanted */
  constructor(send: (chunk: Uint8Array) => Promise<void>) {
    super();
    this.#send = send;
  }

  /** Goes out before the first chunk. */
  setMetadata(metadata: unknown): void {
    if (this.#hasBegun) throw new Error('Cannot set metadata: the response has begun.');
    this.#metadata = Buffer.concat([Buffer.from(JSON.stringify(metadata)), DELIMITER]);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const bytes = this.#metadata ? Buffer.concat([this.#metadata, chunk]) : chunk;
    this.#metadata = undefined;
    this.#hasBegun = true;
    void this.#write(bytes, done);
  }

  async #write(bytes: Uint8Array, done: () => void): Promise<void> {
    await this.#send(bytes);
    done();
  }
}

/** The global that the Node.js runtime of Lambda gives to handlers. */
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

export const isStreaming = (handler: object): boolean => STREAMING in handler;
