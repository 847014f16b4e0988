import type { Server } from 'node:http';
import { ControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { createHttpServer } from '../../infra/local/http-server.ts';
import { close, listen } from './listening.ts';
import type { LocalApi } from './local-api.ts';

/** The API of a test at the address of a host. There is no DynamoDB engine behind it. */
export class ApiServer {
  /** Ends in the stage. */
  readonly baseUrl: string;
  readonly #server: Server;

  private constructor(server: Server, baseUrl: string) {
    this.#server = server;
    this.baseUrl = baseUrl;
  }

  static async start({ restApi, records, apiStage, stack }: LocalApi): Promise<ApiServer> {
    const service = {
      restApi,
      controlPlane: new ControlPlane({ records, apiStage }, () => undefined),
      engineEndpoint: new URL('http://127.0.0.1:1'),
      outputs: stack.outputs,
    };
    const server = createHttpServer(Promise.resolve(service), { host: '127.0.0.1', isOpen: false });
    const port = await listen(server);
    return new ApiServer(server, `http://127.0.0.1:${port}/${restApi.stage}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await close(this.#server);
  }
}
