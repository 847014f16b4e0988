import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { close, listen } from './listening.ts';

/** What goes wrong with a call. */
export type LinkFault =
  /** Something on the way answers in place of the host. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** The connection breaks off, before the call has reached the host or after. */
  | { readonly kind: 'hangUp'; readonly after: boolean }
  /** No answer comes. */
  | { readonly kind: 'silence' }
  /** From this call on nobody is there. */
  | { readonly kind: 'gone' };

export interface LinkCall {
  readonly method: string;
  /** Such as `/apikeys`, without the query. */
  readonly path: string;
  /** Of a DynamoDB call, such as `Query`; empty for any other. */
  readonly action: string;
  readonly body: string;
}

/** The answer of an AWS API to a call that it does not carry out. */
export const awsFault = (status: number, type: string, message: string): LinkFault => ({
  kind: 'answer',
  status,
  headers: { 'Content-Type': 'application/json', 'x-amzn-ErrorType': type },
  body: JSON.stringify({ message }),
});

/** The way from an admin to a host, on which things can go wrong: an HTTP proxy. */
export class FaultyLink {
  /** What goes wrong from now on. */
  faults: (call: LinkCall) => LinkFault | undefined = () => undefined;
  /** Calls so far. */
  readonly calls: LinkCall[] = [];
  readonly #hostPort: number;
  readonly #proxy: Server = createServer((message, response) => void this.#take(message, response));
  #port = 0;

  private constructor(hostPort: number) {
    this.#hostPort = hostPort;
  }

  /** @param origin address of the host, without a stage */
  static async to(origin: string): Promise<FaultyLink> {
    const link = new FaultyLink(Number(new URL(origin).port));
    link.#port = await listen(link.#proxy);
    return link;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async close(): Promise<void> {
    if (this.#proxy.listening) await this.#leave();
  }

  async #leave(): Promise<void> {
    this.#proxy.closeAllConnections();
    await close(this.#proxy);
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = '', url = '', headers } = message;
    const [path = ''] = url.split('?', 1);
    const [, action = ''] = String(headers['x-amz-target'] ?? '').split('.');
    const call = { method, path, action, body: body.toString() };
    this.calls.push(call);
    const fault = this.faults(call);
    if (fault?.kind === 'answer') response.writeHead(fault.status, fault.headers).end(fault.body);
    else if (fault?.kind === 'gone') await this.#leave();
    else if (fault?.kind === 'hangUp' && !fault.after) response.destroy();
    else if (fault?.kind !== 'silence') this.#forward(message, body, response, fault !== undefined);
  }

  #forward({ headers, method, url }: IncomingMessage, body: Buffer, response: ServerResponse, hangUp: boolean): void {
    // The host answers to its own name only.
    const own = { ...headers, host: `127.0.0.1:${this.#hostPort}` };
    const options = { port: this.#hostPort, host: '127.0.0.1', method, path: url, headers: own };
    const call = request(options, (answer) => {
      if (hangUp) {
        response.destroy();
        answer.resume();
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response).catch(() => response.destroy());
    });
    call.on('error', () => response.destroy());
    call.end(body);
  }
}
