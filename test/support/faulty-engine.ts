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

/** Something answers in place of the server, and the call is not carried out. */
interface FalseAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What goes wrong with a call. */
export type Fault =
  | FalseAnswer
  /** The connection breaks off, and the call is not carried out. */
  | { readonly kind: 'hangUp' }
  /** The call is carried out, and the connection breaks off before the answer, or in the middle of it; or it is a 500. */
  | { readonly kind: 'lostAnswer' | 'halfAnswer' | 'falseFailure' }
  /** The connection breaks off, and the call is carried out after so many milliseconds. */
  | { readonly kind: 'late'; readonly milliseconds: number }
  /** No answer comes. */
  | { readonly kind: 'silence' }
  /** From this call on connections are refused. */
  | { readonly kind: 'gone' };

/** The answer of an AWS API to a call that it does not carry out. */
export const awsFault = (status: number, type: string, message: string): FalseAnswer => ({
  kind: 'answer',
  status,
  headers: { 'Content-Type': 'application/json', 'x-amzn-ErrorType': type },
  body: JSON.stringify({ __type: type, message }),
});

export const dynamoDBError = (status: number, type: string): FalseAnswer =>
  awsFault(status, `com.amazonaws.dynamodb.v20120810#${type}`, 'a fault');

export interface Call {
  readonly method: string;
  /** Such as `/apikeys`, without the query. */
  readonly path: string;
  /** Of a DynamoDB call, such as `Query`; empty for any other. */
  readonly action: string;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The way to a server, on which things can go wrong: an HTTP proxy. */
abstract class FaultyProxy {
  /** What goes wrong from now on. */
  faults: (call: Call) => Fault | undefined = () => undefined;
  /** Called for every call before it is carried out. */
  beforeCall: (call: Call) => Promise<void> = () => Promise.resolve();
  readonly #proxy: Server = createServer((message, response) => void this.#take(message, response));
  readonly #onTheirWay = new Set<Promise<void>>();
  #serverPort = 0;
  #port = 0;

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listenBefore(serverPort: number): Promise<void> {
    this.#serverPort = serverPort;
    this.#port = await listen(this.#proxy);
  }

  /** Takes the server off the network; its data stays. */
  async disconnect(): Promise<void> {
    this.#proxy.closeAllConnections();
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

  async close(): Promise<void> {
    await this.settled();
    if (this.#proxy.listening) await this.disconnect();
  }

  protected abstract note(call: Call): void;

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(message);
    const { method = '', url = '', headers } = message;
    const [path = ''] = url.split('?', 1);
    const [, action = ''] = String(headers['x-amz-target'] ?? '').split('.');
    const call = { method, path, action, body: body.toString() };
    this.note(call);
    await this.beforeCall(call);
    const fault = this.faults(call);
    const carryOut = (): Promise<Answer> => this.#carryOut(message, body);
    if (fault?.kind === 'answer') answerWith(response, fault);
    else if (fault?.kind === 'gone') await this.disconnect();
    else if (fault?.kind === 'hangUp' || fault?.kind === 'late') response.destroy();
    else if (fault?.kind !== 'silence') {
      await carryOut().then(
        (answer) => send(response, fault, answer),
        () => response.destroy(),
      );
    }
    if (fault?.kind === 'late') this.#late(carryOut, fault.milliseconds);
  }

  #late(carryOut: () => Promise<unknown>, milliseconds: number): void {
    const carriedOut = sleep(milliseconds)
      .then(carryOut)
      // Nobody waits for its answer.
      .catch(() => undefined)
      .then(() => void this.#onTheirWay.delete(carriedOut));
    this.#onTheirWay.add(carriedOut);
  }

  async #carryOut({ headers, method, url }: IncomingMessage, body: Buffer): Promise<Answer> {
    const port = this.#serverPort;
    // A host answers to its own name only.
    const own = { ...headers, host: `127.0.0.1:${port}` };
    const message = request({ port, host: '127.0.0.1', method, path: url, headers: own }).end(body);
    const [answer]: IncomingMessage[] = await once(message, 'response');
    if (!answer) throw new Error('The server gave no answer');
    return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  }
}

function answerWith(response: ServerResponse, { status, headers, body }: FalseAnswer): void {
  response.writeHead(status, headers).end(body);
}

function send(response: ServerResponse, fault: Fault | undefined, { status, headers, body }: Answer): void {
  if (fault?.kind === 'lostAnswer') response.destroy();
  else if (fault?.kind === 'falseFailure') answerWith(response, dynamoDBError(500, 'InternalServerError'));
  else {
    response.writeHead(status, headers);
    if (fault) response.write(body.subarray(0, body.length / 2), () => response.destroy());
    else response.end(body);
  }
}

/** A DynamoDB engine in which things can go wrong. */
export class FaultyEngine extends FaultyProxy {
  /** The actions that were called, in their order. */
  readonly calls: string[] = [];
  readonly #engine: Server = createEngineServer();

  static async start(): Promise<FaultyEngine> {
    const engine = new FaultyEngine();
    await engine.listenBefore(await listen(engine.#engine));
    return engine;
  }

  get endpoint(): URL {
    return new URL(this.origin);
  }

  async stop(): Promise<void> {
    await this.close();
    this.#engine.closeAllConnections();
    await close(this.#engine);
  }

  protected note({ action }: Call): void {
    this.calls.push(action);
  }
}

/** The way from an admin to a host, on which things can go wrong. */
export class FaultyLink extends FaultyProxy {
  /** Calls so far. */
  readonly calls: Call[] = [];

  /** @param origin address of the host, without a stage */
  static async to(origin: string): Promise<FaultyLink> {
    const link = new FaultyLink();
    await link.listenBefore(Number(new URL(origin).port));
    return link;
  }

  protected note(call: Call): void {
    this.calls.push(call);
  }
}
