import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import { InventoryClient, type InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { close, listen } from '../../support/listening.ts';

/** What a server does with a request. */
export type Step = (response: ServerResponse, request: ReceivedRequest) => void;

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Headers of a key that is far from its limits. */
const plenty = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': '1795253280' };

/** A response of the service: JSON with limit headers. */
export const reply =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) => {
    const written = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'Content-Type': 'application/json', ...plenty, ...headers }).end(written);
  };

/** An error of the service. */
export const failure = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Step =>
  reply(status, { code, message: `This is ${code}.`, status }, headers);

/** No response, ever. */
export const silence: Step = () => undefined;

/** The connection breaks before any response. */
export const hangUp: Step = (response) => void response.destroy();

/** The beginning of a response, after which nothing more comes. */
export const stall: Step = (response) => void response.writeHead(200).write('{');

/** The beginning of a response, after which the connection breaks. */
export const breakOff =
  (status = 200, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) =>
    void response.writeHead(status, headers).write('{', () => response.destroy());

/** A server that takes one step of its script for each request, and the last one again and again. */
export class ScriptedServer {
  readonly requests: ReceivedRequest[] = [];
  baseUrl = '';
  readonly #server = createServer((message, response) => void this.#take(message, response));
  readonly #steps: Step[];

  private constructor(steps: Step[]) {
    this.#steps = steps;
  }

  /** It is closed after the test. */
  static async start(...steps: Step[]): Promise<ScriptedServer> {
    const server = new ScriptedServer(steps);
    server.baseUrl = `http://127.0.0.1:${await listen(server.#server)}/v1`;
    running.push(server.#server);
    return server;
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = message;
    const request = { method, path: url, headers, body: await textOf(message) };
    this.requests.push(request);
    const step = this.#steps.length > 1 ? this.#steps.shift() : this.#steps[0];
    step?.(response, request);
  }
}

const running: Server[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.closeAllConnections();
    await close(server);
  }
});

/** A key that looks for itself in everything a client says. */
export const SECRET_KEY = 'psk_ThisKeyMustNeverBeShown';

/** A client that retries after short pauses. */
export const quickClient = (
  { baseUrl }: { readonly baseUrl: string },
  options: Partial<InventoryClientOptions> = {},
): InventoryClient => new InventoryClient({ baseUrl, apiKey: SECRET_KEY, retryDelay: 4, ...options });

/** A client of a server with this script, and what the server has received. */
export async function clientOf(script: Step | readonly Step[], options: Partial<InventoryClientOptions> = {}) {
  const server = await ScriptedServer.start(...[script].flat());
  return { store: quickClient(server, options), requests: server.requests, server };
}

/** The error of a call, which must fail. */
export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => Promise.reject(new Error('The call did not fail')),
    (error: unknown) => error,
  );

export const entry = { petId: 101, quantity: 7, status: 'available' };
export const good = reply(200, entry);

/** A refusal until some seconds have passed. */
export const refusal = (code: string, seconds: number): Step => failure(429, code, { 'Retry-After': String(seconds) });

export const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
