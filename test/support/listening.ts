import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import type { Engine } from '../../infra/local/dynamodb/engine.ts';

/** Lets a server listen on a port of this machine, by default a free one, and returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  // Rejects where the address cannot be had.
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  await listening;
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen on a port');
  return address.port;
}

export const close = (server: Server): Promise<void> => promisify(server.close.bind(server))();

/** A port that nothing listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await close(server);
  return port;
}

/** An engine that runs elsewhere, such as DynamoDB Local: no rights of functions. */
export const engineAt = (endpoint: URL): Engine => ({
  endpoint,
  endpointFor: () => endpoint,
  close: () => Promise.resolve(),
});
