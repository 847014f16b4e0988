import { Writable } from 'node:stream';

/** Marker of streaming handlers (AWS Lambda runtime interface client for Node.js). */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Between the metadata of an HTTP response and its body (API Gateway guide, "format for response streaming"). */
export const DELIMITER = Buffer.alloc(8);

export type StreamingHandler = (event: unknown, stream: Writable, context: unknown) => Promise<unknown>;

/** The stream for a streaming handler's response. */
export class ResponseStream extends Writable {
  #metadata: Buffer | undefined;
  #hasBegun = false;
  #isHeld = false;
  #goOn: (() => void) | undefined;
  readonly #send: (chunk: Uint8Array) => void;

  constructor(send: (chunk: Uint8Array) => void) {
    super();
    this.#send = send;
  }

  /** Sent before the first chunk. */
  setMetadata(metadata: unknown): void {
    if (this.#hasBegun) throw new Error('Cannot set metadata: the response has begun.');
    this.#metadata = Buffer.concat([Buffer.from(JSON.stringify(metadata)), DELIMITER]);
  }

  /** Pauses or resumes the handler (backpressure). */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) return;
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(this.#metadata ? Buffer.concat([this.#metadata, chunk]) : chunk);
    this.#metadata = undefined;
    this.#hasBegun = true;
    // Another turn of the event loop, in which the reader can pause.
    setImmediate(() => {
      if (this.#isHeld) this.#goOn = done;
      else done();
    });
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
