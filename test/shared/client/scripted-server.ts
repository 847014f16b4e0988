import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import { close, listen } from '../../support/listening.ts';

/** What a server does with a request. */
export type ServerStep = (response: ServerResponse) => unknown;

/** A response of JSON, or this text. */
export const reply =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ServerStep =>
  (response) => {
    const written = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(written);
  };

/** A server that takes one step of its script for each request, and the last one again and again. */
export class ScriptedServer {
  readonly requests: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
  baseUrl = '';
  readonly #server = createServer((message, response) => void this.#take(message, response));
  readonly #steps: ServerStep[];

  private constructor(steps: ServerStep[]) {
    this.#steps = steps;
  }

  /** It is closed after the test. */
  static async start(...steps: ServerStep[]): Promise<ScriptedServer> {
    const server = new ScriptedServer(steps);
    server.baseUrl = `http://127.0.0.1:${await listen(server.#server)}/v1`;
    running.push(server.#server);
    return server;
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push({ headers: message.headers, body: await textOf(message) });
    const step = this.#steps.length > 1 ? this.#steps.shift() : this.#steps[0];
    step?.(response);
  }
}

const running: Server[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.closeAllConnections();
    await close(server);
  }
});

/** The error of a call, which must fail. */
export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => Promise.reject(new Error('The call did not fail')),
    (error: unknown) => error,
  );
