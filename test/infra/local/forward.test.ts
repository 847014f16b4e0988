import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { forwardToEngine } from '../../../infra/local/dynamodb/forward.ts';
import { localEndpoint } from '../../support/engines.ts';
import { close, listen } from '../../support/listening.ts';

const SIZE = 5_000_000;

const servers: Server[] = [];

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  servers.push(server);
  return localEndpoint(await listen(server));
}

afterEach(() =>
  Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return close(server);
    }),
  ),
);

test('A long answer that the engine gives without reading the call comes back whole', async () => {
  const endpoint = await serve((_, answer) => void answer.end(Buffer.alloc(SIZE)));
  const host = await serve((message, response) => void forwardToEngine(endpoint, message, response));
  const response = await fetch(host, { method: 'POST', body: 'x'.repeat(SIZE) });

  expect((await response.arrayBuffer()).byteLength).toBe(SIZE);
});
