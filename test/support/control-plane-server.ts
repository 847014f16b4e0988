import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { MAX_BODY_BYTES } from '../../infra/local/control-plane/call.ts';
import type { GatewayRecords } from '../../infra/local/gateway-records/gateway-records.ts';
import { readBody } from '../../infra/local/read-request.ts';
import type { ApiStage } from '../../shared/key-registry/gateway-client.ts';
import { close, listen } from './listening.ts';

/** How API Gateway fails a call: it has had too many, or has a fault of its own. */
export type ControlPlaneFault = 'throttled' | 'broken';

const failures = {
  throttled: { status: 429, type: 'TooManyRequestsException', message: 'Too Many Requests' },
  broken: { status: 500, type: 'InternalFailure', message: 'Internal server error' },
} as const;

/**
 * The control plane of a host at an address of its own. What is changed here is in the host's records, but the
 * host is not told, so that no sync runs but those of the test. A test may have calls fail.
 */
export class ControlPlaneServer {
  /** When each call arrived, by the monotonic clock; those that failed too. */
  readonly arrivals: number[] = [];
  /** Says how a call fails, if it does. The first has the number 1. */
  faults: (call: number) => ControlPlaneFault | undefined = () => undefined;
  readonly #controlPlane: ControlPlane;
  readonly #server: Server = createServer((message, response) => void this.#take(message, response));
  #port = 0;

  private constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane;
  }

  static async start(records: GatewayRecords, apiStage: ApiStage): Promise<ControlPlaneServer> {
    const server = new ControlPlaneServer(new ControlPlane({ records, apiStage }, () => undefined));
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

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.arrivals.push(performance.now());
    const fault = this.faults(this.arrivals.length);
    if (fault) {
      const { status, type, message: text } = failures[fault];
      response.writeHead(status, { 'x-amzn-ErrorType': type }).end(JSON.stringify({ message: text }));
      return;
    }
    const [path = '', query = ''] = (message.url ?? '').split('?');
    const { status, headers, body } = await this.#controlPlane.answer({
      method: message.method ?? '',
      path,
      query,
      authorization: message.headers.authorization,
      ...(await readBody(message, MAX_BODY_BYTES)),
    });
    response.statusCode = status;
    for (const [name, value] of headers) response.appendHeader(name, value);
    response.end(body);
  }
}
