import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import * as v from 'valibot';
import {
  type ControlPlane,
  type ControlPlaneCall,
  createControlPlane,
} from '../../../infra/local/account/control-plane.ts';
import { GatewayRecords } from '../../../infra/local/account/gateway-records.ts';
import { close, listen } from '../../support/listening.ts';

export interface ControlPlaneAnswer {
  readonly status: number;
  /** Type of the error; undefined on success. */
  readonly error: string | undefined;
  readonly message: string | undefined;
  /** Parsed; undefined where there is none. */
  readonly body: unknown;
}

const messageSchema = v.object({ message: v.string() });
const itemsSchema = v.object({ item: v.array(v.looseObject({ id: v.string() })), position: v.optional(v.string()) });

/** What a signed call carries. */
export const signature =
  'AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/apigateway/aws4_request, SignedHeaders=host, Signature=0';

/** A control plane over records in memory, as its callers see it. */
export class ControlPlaneCalls {
  readonly records = GatewayRecords.inMemory();
  /** How often it has reported a change. */
  changes = 0;
  readonly #controlPlane = createControlPlane(this.records, () => (this.changes += 1));

  /** @param path with its query @param differences from a signed call with the JSON of the body */
  async call(
    method: string,
    path: string,
    body?: unknown,
    differences: Partial<ControlPlaneCall> = {},
  ): Promise<ControlPlaneAnswer> {
    const content = body === undefined ? '' : JSON.stringify(body);
    const call = { method, path, authorization: signature, body: content, ...differences };
    const answer = await this.#controlPlane(call);
    const parsed: unknown = answer.body === '' ? undefined : JSON.parse(answer.body);
    const error = answer.headers['x-amzn-ErrorType'];
    const message = error === undefined ? undefined : v.parse(messageSchema, parsed).message;
    return { status: answer.status, error, message, body: parsed };
  }

  /** The ids in a list, from as many pages as it has. */
  async pages(path: string): Promise<string[][]> {
    const pages: string[][] = [];
    for (let position: string | undefined = ''; position !== undefined;) {
      const separator = path.includes('?') ? '&' : '?';
      const answer = await this.call('GET', position === '' ? path : `${path}${separator}position=${position}`);
      const list = v.parse(itemsSchema, answer.body);
      pages.push(list.item.map(({ id }) => id));
      ({ position } = list);
    }
    return pages;
  }

  async ids(path: string): Promise<string[]> {
    return (await this.pages(path)).flat();
  }

  /** Changes a resource by patch operations such as `replace /name acme`. */
  patch(path: string, ...operations: readonly string[]): Promise<ControlPlaneAnswer> {
    return this.call('PATCH', path, { patchOperations: ControlPlaneCalls.operations(operations) });
  }

  static operations(operations: readonly string[]): object[] {
    return operations.map((operation) => {
      const [op, at, ...value] = operation.split(' ');
      return { op, path: at, ...(value.length > 0 && { value: value.join(' ') }) };
    });
  }
}

/** How API Gateway fails a call: it has had too many, or has a fault of its own. */
export type ControlPlaneFault = 'throttled' | 'broken';

const failures = {
  throttled: { status: 429, type: 'TooManyRequestsException', message: 'Too Many Requests' },
  broken: { status: 500, type: 'InternalFailure', message: 'Internal server error' },
} as const;

/**
 * The control plane of a host at an address of its own. What is changed here is in the host's records, but the
 * host is not notified, so that no sync runs but those of the test. A test may have calls fail.
 */
export class ControlPlaneServer {
  /** When each call arrived, by the monotonic clock; those that failed too. */
  readonly arrivals: number[] = [];
  /** How a call fails, if it does. The first has the number 1. */
  faults: (call: number) => ControlPlaneFault | undefined = () => undefined;
  readonly #server: Server;
  #port = 0;

  private constructor(controlPlane: ControlPlane) {
    this.#server = createServer((message, response) => {
      this.arrivals.push(performance.now());
      const fault = this.faults(this.arrivals.length);
      if (fault) {
        const { status, type, message: reason } = failures[fault];
        response.writeHead(status, { 'x-amzn-ErrorType': type }).end(JSON.stringify({ message: reason }));
      } else void passOn(controlPlane, message, response);
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

async function passOn(controlPlane: ControlPlane, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = message;
  const { authorization } = headers;
  const {
    status,
    headers: fields,
    body,
  } = await controlPlane({ method, path: url, authorization, body: await text(message) });
  response.writeHead(status, fields).end(body);
}
