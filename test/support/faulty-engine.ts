import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Engine, startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { close, listen } from './listening.ts';

/** A response in place of the server's; the call is not carried out. */
interface FaultyResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Fault =
  | FaultyResponse
  /** The connection is closed, and the call is not carried out. */
  | { readonly kind: 'hangUp' }
  /** The call is carried out, and the connection breaks before or within the response; or it is a 500. */
  | { readonly kind: 'lostResponse' | 'halfResponse' | 'falseFailure' }
  /** The call is carried out, and Node.js cannot parse the response. */
  | { readonly kind: 'garbledResponse' }
  /** No response comes. */
  | { readonly kind: 'silence' }
  /** From this call on connections are refused. */
  | { readonly kind: 'gone' };

/** A response with two lengths, which parsers refuse: each part of a proxy chain could take another one. */
export const UNPARSABLE_RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}';

/** The response of an AWS API to a call that it does not carry out. */
export const awsFault = (status: number, type: string, message: string, more: object = {}): FaultyResponse => ({
  kind: 'response',
  status,
  headers: { 'Content-Type': 'application/json', 'x-amzn-ErrorType': type },
  body: JSON.stringify({ __type: type, message, ...more }),
});

export const dynamoDBError = (status: number, type: string, more?: object): FaultyResponse =>
  awsFault(status, `com.amazonaws.dynamodb.v20120810#${type}`, 'a fault', more);

export interface Call {
  readonly method: string;
  /** Such as `/apikeys`, without the query. */
  readonly path: string;
  /** Of a DynamoDB call, such as `Query`; empty for any other. */
  readonly action: string;
  readonly body: string;
}

/** The way to a server, on which things can go wrong: an HTTP proxy. */
export class FaultyLink {
  faults: (call: Call) => Fault | undefined = () => undefined;
  /** Called for every call before it is carried out. */
  beforeCall: (call: Call) => Promise<void> = () => Promise.resolve();
  readonly calls: Call[] = [];
  readonly #proxy: Server = createServer((message, response) => void this.#take(message, response));
  readonly #server: URL;
  #port = 0;

  protected constructor(server: URL) {
    this.#server = server;
  }

  static async to(origin: string): Promise<FaultyLink> {
    const link = new FaultyLink(new URL(origin));
    await link.open();
    return link;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  protected async open(): Promise<void> {
    this.#port = await listen(this.#proxy);
  }

  /** Takes the server off the network; its data stays. */
  async disconnect(): Promise<void> {
    this.#proxy.closeAllConnections();
    await close(this.#proxy);
  }

  /** Puts it back at the same address. */
  async reconnect(): Promise<void> {
    await listen(this.#proxy, this.#port);
  }

  async close(): Promise<void> {
    if (this.#proxy.listening) await this.disconnect();
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(message);
    const { method = '', url = '', headers } = message;
    const [path = ''] = url.split('?', 1);
    const [, action = ''] = String(headers['x-amz-target'] ?? '').split('.');
    const call = { method, path, action, body: body.toString() };
    this.calls.push(call);
    await this.beforeCall(call);
    const fault = this.faults(call);
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'gone') return this.disconnect();
    if (fault?.kind === 'response') return respondWith(response, fault);
    if (fault?.kind === 'hangUp') return void response.destroy();
    await this.#carryOut(message, body).then(
      (reply) => passOn(reply, response, fault?.kind),
      () => response.destroy(),
    );
  }

  async #carryOut({ headers, method, url = '' }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    // A server accepts only its own name.
    const own = { ...headers, host: this.#server.host };
    const message = request(new URL(url, this.#server), { method, headers: own }).end(body);
    const [reply]: IncomingMessage[] = await once(message, 'response');
    if (!reply) throw new Error('The server gave no response');
    return reply;
  }
}

function respondWith(response: ServerResponse, { status, headers, body }: FaultyResponse): void {
  response.writeHead(status, headers).end(body);
}

/** Passes a response on to the caller, or what a fault leaves of it. */
async function passOn(reply: IncomingMessage, response: ServerResponse, fault: Fault['kind'] | undefined) {
  const body = await buffer(reply);
  if (fault === 'lostResponse') response.destroy();
  else if (fault === 'garbledResponse') response.socket?.end(UNPARSABLE_RESPONSE);
  else if (fault === 'falseFailure') respondWith(response, dynamoDBError(500, 'InternalServerError'));
  else {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    if (fault === 'halfResponse') response.write(body.subarray(0, body.length / 2), () => response.destroy());
    else response.end(body);
  }
}

/** A DynamoDB engine in which things can go wrong. */
export class FaultyEngine extends FaultyLink {
  readonly #engine: Engine;

  private constructor(engine: Engine) {
    super(engine.endpoint);
    this.#engine = engine;
  }

  static async start(start = () => startEmbeddedEngine(undefined)): Promise<FaultyEngine> {
    const engine = new FaultyEngine(await start());
    await engine.open();
    return engine;
  }

  get endpoint(): URL {
    return new URL(this.#engine.endpoint.pathname, this.origin);
  }

  /** The actions that were called, in their order, but for those by which a server renews its claim. */
  get actions(): string[] {
    return this.calls.map(({ action }) => action);
  }

  async stop(): Promise<void> {
    await this.close();
    await this.#engine.close();
  }
}
