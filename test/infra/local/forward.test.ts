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

test.each<[string, RequestListener]>([
  ['after it has read the call', (call, answer) => void call.resume().on('end', () => answer.end(Buffer.alloc(SIZE)))],
  ['without reading the call', (_, answer) => void answer.end(Buffer.alloc(SIZE))],
])('A long answer that the engine gives %s comes back whole', async (_, engine) => {
  const endpoint = await serve(engine);
  const host = await serve((message, response) => void forwardToEngine(endpoint, message, response));
  const response = await fetch(host, { method: 'POST', body: 'x'.repeat(SIZE) });

  expect((await response.arrayBuffer()).byteLength).toBe(SIZE);
});
