import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngineServer } from '../../infra/local/dynamodb/engine-server.ts';
import { close, listen } from './listening.ts';

interface FalseAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What goes wrong with a call of the DynamoDB API. */
export type Fault =
  | FalseAnswer
  /** The connection breaks off, and the call is not carried out. */
  | { readonly kind: 'hangUp' }
  /** The call is carried out, and the connection breaks off before the answer, or in the middle of it; or it is a 500. */
  | { readonly kind: 'lostAnswer' | 'halfAnswer' | 'falseFailure' }
  /** The connection breaks off, and the call is carried out after so many milliseconds. */
  | { readonly kind: 'late'; readonly milliseconds: number }
  /** No answer comes. */
  | { readonly kind: 'silence' };

/** An error of the DynamoDB API. */
export const dynamoDBError = (status: number, type: string): FalseAnswer => ({
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

/** What the engine itself answered to a call that was carried out, whatever became of the answer. */
export interface CarriedOut extends Call {
  readonly status: number;
  /** JSON text. */
  readonly answer: string;
}

interface EngineAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Decides what goes wrong with a call. Undefined: nothing. */
export type Faults = (call: Call) => Fault | undefined;

/** A DynamoDB engine in which things can go wrong: dynalite behind a proxy. */
export class FaultyEngine {
  /** What goes wrong from now on. */
  faults: Faults = () => undefined;
  /** The actions that were called, in their order. */
  readonly calls: string[] = [];
  /** Called for every call before it is carried out. */
  beforeCall: (call: Call) => Promise<void> = () => Promise.resolve();
  /** Called for every call that was carried out. */
  onCarriedOut: (call: CarriedOut) => void = () => undefined;
  readonly #engine: Server = createEngineServer();
  readonly #proxy: Server = createServer((message, response) => void this.#take(message, response));
  readonly #onTheirWay = new Set<Promise<void>>();
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
    // Rejects where the address cannot be had.
    const listening = once(this.#proxy, 'listening');
    this.#proxy.listen(this.#port, '127.0.0.1');
    await listening;
  }

  /** Waits until all calls that are late have been carried out. */
  async settled(): Promise<void> {
    while (this.#onTheirWay.size > 0) await Promise.all(this.#onTheirWay);
  }

  async stop(): Promise<void> {
    await this.settled();
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
    const call = { action, body: body.toString() };
    await this.beforeCall(call);
    const fault = this.faults(call);
    if (!fault || fault.kind === 'lostAnswer' || fault.kind === 'halfAnswer' || fault.kind === 'falseFailure') {
      this.#forward(message, body, call).then(
        (answer) => this.#answer(response, fault, answer),
        () => response.destroy(),
      );
    } else this.#fail(fault, response, () => this.#forward(message, body, call));
  }

  #fail(fault: Fault, response: ServerResponse, carryOut: () => Promise<unknown>): void {
    if (fault.kind === 'hangUp' || fault.kind === 'late') response.destroy();
    if (fault.kind === 'late') this.#late(carryOut, fault.milliseconds);
    if (fault.kind === 'answer') answerWith(response, fault);
  }

  #late(carryOut: () => Promise<unknown>, milliseconds: number): void {
    const carriedOut = sleep(milliseconds)
      .then(carryOut)
      // Nobody waits for its answer.
      .catch(() => undefined)
      .then(() => void this.#onTheirWay.delete(carriedOut));
    this.#onTheirWay.add(carriedOut);
  }

  #answer(response: ServerResponse, fault: Fault | undefined, { status, headers, body }: EngineAnswer): void {
    if (fault?.kind === 'lostAnswer') {
      response.destroy();
      return;
    }
    if (fault?.kind === 'falseFailure') {
      answerWith(response, dynamoDBError(500, 'InternalServerError'));
      return;
    }
    response.writeHead(status, headers);
    if (!fault) response.end(body);
    else response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }

  async #forward({ headers, method }: IncomingMessage, body: Buffer, call: Call): Promise<EngineAnswer> {
    const message = request({ port: this.#enginePort, host: '127.0.0.1', method, headers }).end(body);
    const [answer]: IncomingMessage[] = await once(message, 'response');
    if (!answer) throw new Error('The engine gave no answer');
    const answerBody = await buffer(answer);
    const status = answer.statusCode ?? 502;
    this.onCarriedOut({ ...call, status, answer: answerBody.toString() });
    return { status, headers: answer.headers, body: answerBody };
  }
}

function answerWith(response: ServerResponse, { status, body }: FalseAnswer): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
}
