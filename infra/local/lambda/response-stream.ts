import { Writable } from 'node:stream';

/** How the runtime knows a handler that streams its response (AWS Lambda runtime interface client for Node.js). */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Between the metadata of an HTTP response and its body (API Gateway guide, "format for response streaming"). */
export const DELIMITER = Buffer.alloc(8);

export type StreamingHandler = (event: unknown, stream: Writable, context: unknown) => Promise<unknown>;

/** What a streaming handler writes its response to. */
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

  /** Goes out before the first chunk. */
  setMetadata(metadata: unknown): void {
    if (this.#hasBegun) throw new Error('Cannot set metadata: the response has begun.');
    this.#metadata = Buffer.concat([Buffer.from(JSON.stringify(metadata)), DELIMITER]);
  }

  /** Lets the handler wait, or no longer: its reader sets the pace. */
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
    // Another turn of the event loop, in which the reader can say that it has enough.
    setImmediate(() => {
      if (this.#isHeld) this.#goOn = done;
      else done();
    });
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

export const streamsResponse = (handler: object): boolean => STREAMING in handler;
