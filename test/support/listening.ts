import { createServer, type Server } from 'node:net';

/** Lets a server listen on a free port of this machine and returns the port. */
export async function listen(server: Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen on a port');
  return address.port;
}

export async function close(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.close((error) => {
    if (error) reject(error);
    else resolve();
  });
  await promise;
}

/** A port that nothing listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await close(server);
  return port;
}
