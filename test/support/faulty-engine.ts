import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import dynalite from 'dynalite';
import { close, listen } from './listening.ts';

/** What goes wrong with a call of the DynamoDB API. */
export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  /** The connection breaks off. */
  | { readonly kind: 'hangUp' }
  /** No answer comes. */
  | { readonly kind: 'silence' };

/** An error of the DynamoDB API. */
export const dynamoDBError = (status: number, type: string): Fault => ({
  kind: 'answer',
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'a fault' },
});

export interface Call {
  /** Such as `Query`. */
  readonly action: string;
  /** JSON text. */
  readonly body: string;
}

/** Decides what goes wrong with a call. Undefined: nothing. */
export type Faults = (call: Call) => Fault | undefined;

/** A DynamoDB engine in which things can go wrong: dynalite behind a proxy. */
export class FaultyEngine {
  /** What goes wrong from now on. */
  faults: Faults = () => undefined;
  /** The actions that were called, in their order. */
  readonly calls: string[] = [];
  readonly #engine: Server = dynalite({ createTableMs: 0 });
  readonly #proxy: Server = createServer((message, response) => void this.#take(message, response));
  #enginePort = 0;
  #port = 0;

  static async start(): Promise<FaultyEngine> {
    const engine = new FaultyEngine();
    engine.#enginePort = await listen(engine.#engine);
    engine.#port = await listen(engine.#proxy);
    return engine;
  }

  get endpoint(): URL {
    return new URL(`http://127.0.0.1:${this.#port}`);
  }

  /** Closes the connections that clients keep, as DynamoDB does with idle ones. */
  closeConnections(): void {
    this.#proxy.closeAllConnections();
  }

  /** Takes the engine off the network; its data stays. */
  async disconnect(): Promise<void> {
    this.closeConnections();
    await close(this.#proxy);
  }

  /** Puts it back at the same address. */
  async reconnect(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#proxy.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    await promise;
  }

  async stop(): Promise<void> {
    if (this.#proxy.listening) await this.disconnect();
    this.#engine.closeAllConnections();
    await close(this.#engine);
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const action = String(message.headers['x-amz-target']).split('.').at(-1) ?? '';
    this.calls.push(action);
    const fault = this.faults({ action, body: body.toString() });
    if (fault) this.#fail(fault, response);
    else this.#forward(message, body, response);
  }

  #fail(fault: Fault, response: ServerResponse): void {
    if (fault.kind === 'hangUp') response.destroy();
    if (fault.kind !== 'answer') return;
    const headers = { 'Content-Type': 'application/x-amz-json-1.0' };
    response.writeHead(fault.status, headers).end(JSON.stringify(fault.body));
  }

  #forward({ headers, method }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const options = { port: this.#enginePort, host: '127.0.0.1', method, headers };
    const call = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response).catch(() => response.destroy());
    });
    call.on('error', () => response.destroy());
    call.end(body);
  }
}
