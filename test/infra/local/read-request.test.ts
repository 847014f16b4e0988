import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type RequestOptions, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type GatewayRequest } from '../../../infra/local/gateway/messages.ts';
import { listen as listenOn, ownHost, urlHost } from '../../../infra/local/listening.ts';
import { readRequest } from '../../../infra/local/read-request.ts';
import { close, listen } from '../../support/listening.ts';

describe('a request', () => {
  let read: GatewayRequest | undefined;
  let port = 0;

  async function take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    read = await readRequest(message, 'v1');
    response.end();
  }

  const server = createServer((message, response) => void take(message, response));

  beforeAll(async () => {
    port = await listen(server);
  });

  afterAll(async () => {
    server.closeAllConnections();
    await close(server);
  });

  /** What the gateway gets of a request. */
  async function requestOf(options: RequestOptions, body: string | Buffer = ''): Promise<GatewayRequest | undefined> {
    const call = request({ host: '127.0.0.1', port, agent: false, ...options });
    call.end(body);
    const [answer] = await once(call, 'response');
    answer.resume();
    return read;
  }

  test.each([
    ['/v1', '/', ''],
    ['/v1/inventory/4%32', '/inventory/4%32', ''],
    ['/v1/v1/inventory?a=1&b=%C3%A4', '/v1/inventory', 'a=1&b=%C3%A4'],
  ])('for %s has the path %s below the stage, as it was sent, and the query %s', async (url, path, query) => {
    expect(await requestOf({ path: url })).toMatchObject({ path, query, sourceIp: '127.0.0.1' });
  });

  test('has its header fields in their order and case, repeated ones too', async () => {
    const headers = ['Host', 'a', 'X-B', '2', 'x-a', '1', 'X-b', '3'];

    expect((await requestOf({ path: '/v1/', headers }))?.headers.slice(0, 4).flat()).toEqual(headers);
  });

  test('has no body where it is over 10 MB', async () => {
    const tooLong = Buffer.alloc(10 * 1024 * 1024 + 1, 'x');

    expect(await requestOf({ path: '/v1/', method: 'PATCH' }, tooLong)).toMatchObject({
      bodyTooLarge: true,
      body: Buffer.alloc(0),
    });
  });
});

const reasonFor = (host: string, port: number) => listenOn(createServer(), host, port).catch(String);

test('A server says in one line where it cannot listen', async () => {
  const other = createServer();
  const taken = await listen(other);

  expect(await reasonFor('127.0.0.1', taken)).toMatch(`HostError: Port ${taken} is taken. Choose another with --port`);
  expect(await reasonFor('192.0.2.1', 0)).toMatch(
    /^HostError: The address 192\.0\.2\.1 cannot be used: [^\n]+--host\.$/,
  );
  await close(other);
});

test.each([
  ['127.0.0.1', '127.0.0.1', 'localhost'],
  ['0.0.0.0', '127.0.0.1', 'localhost'],
  ['::', '[::1]', 'localhost'],
  ['fe80::1', '[fe80::1]', '[fe80::1]'],
])('A server at %s is reached from this machine at %s, and named to people as %s', (address, own, forPeople) => {
  expect(ownHost({ address, port: 3000 })).toBe(own);
  expect(urlHost(address)).toBe(forPeople);
});
