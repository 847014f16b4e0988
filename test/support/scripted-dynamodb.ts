import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { localEndpoint, pointSdkAt } from './engines.ts';
import { close, listen } from './listening.ts';

interface Call {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Port of the caller: one for each connection. */
  readonly connection: number | undefined;
}

export type Answer = (response: ServerResponse) => void;

export const json =
  (status: number, body: object): Answer =>
  (response) =>
    void response.writeHead(status).end(JSON.stringify(body));

/** A server in place of DynamoDB, for the tests around it: it records calls, and responds as a test says. */
export class ScriptedDynamoDB {
  /** The next responses. */
  responses: Answer[] = [];
  calls: Call[] = [];
  port = 0;

  /** @param otherwise the response when there is no next one */
  constructor(otherwise: Answer) {
    const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = (await buffer(request)).toString();
      this.calls.push({ headers: request.headers, body, connection: request.socket.remotePort });
      (this.responses.shift() ?? otherwise)(response);
    };
    const server = createServer((request, response) => void take(request, response));
    beforeAll(async () => {
      this.port = await listen(server);
      pointSdkAt(localEndpoint(this.port));
    });
    beforeEach(() => void Object.assign(this, { responses: [], calls: [] }));
    afterAll(async () => {
      server.closeAllConnections();
      await close(server);
    });
  }
}
