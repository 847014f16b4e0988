import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { createControlPlane } from '../../../infra/local/control-plane/control-plane.ts';
import type { GatewayRecords } from '../../../infra/local/control-plane/gateway-records.ts';
import { close, listen } from '../../support/listening.ts';

/** The Authorization header of a signed call. */
export const signature =
  'AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/apigateway/aws4_request, SignedHeaders=host, Signature=0';

/** How API Gateway fails a call: it throttles it, or has an internal error. */
export type ControlPlaneFault = 'throttled' | 'broken';

const failures = {
  throttled: { status: 429, type: 'TooManyRequestsException', message: 'Too Many Requests' },
  broken: { status: 500, type: 'InternalFailure', message: 'Internal server error' },
} as const;

/**
 * The control plane of a server at an address of its own. What is changed here is in the server's records, but the
 * server is not notified, so that no sync runs but those of the test. A test may have calls fail.
 */
export class ControlPlaneServer {
  /** The calls so far; those that failed too. */
  calls = 0;
  /** How a call fails, if it does. The first has the number 1. */
  faults: (call: number) => ControlPlaneFault | undefined = () => undefined;
  readonly #server: Server;
  #port = 0;

  private constructor({ fetch }: Hono) {
    const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
    this.#server = createServer((message, response) => {
      const fault = this.faults(++this.calls);
      if (fault) {
        const { status, type, message: reason } = failures[fault];
        response.writeHead(status, { 'x-amzn-ErrorType': type }).end(JSON.stringify({ message: reason }));
      } else void listener(message, response);
    });
  }

  static async start(records: GatewayRecords): Promise<ControlPlaneServer> {
    const server = new ControlPlaneServer(createControlPlane(records, () => undefined));
    server.#port = await listen(server.#server);
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await close(this.#server);
  }
}
