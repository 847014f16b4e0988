import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type RequestOptions, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type GatewayRequest } from '../../../infra/local/gateway/messages.ts';
import { listen as listenOn, ownHost, urlHost } from '../../../infra/local/listening.ts';
import { readRequest } from '../../../infra/local/read-request.ts';
import { close, listen } from '../../support/listening.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

let read: GatewayRequest | undefined;
let port = 0;

const server = createServer((message, response) => void take(message, response));

async function take(message: IncomingMessage, response: ServerResponse): Promise<void> {
  read = await readRequest(message, 'v1');
  response.end();
}

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

describe('a request', () => {
  test.each([
    ['/v1/inventory', '/inventory', ''],
    ['/v1', '/', ''],
    ['/v1/inventory/4%32', '/inventory/4%32', ''],
    ['/v1/inventory?a=1&b=%C3%A4', '/inventory', 'a=1&b=%C3%A4'],
    ['/v1/v1/inventory', '/v1/inventory', ''],
  ])('for %s has the path %s below the stage, as it was sent, and the query %s', async (url, path, query) => {
    expect(await requestOf({ path: url })).toMatchObject({ path, query });
  });

  test('has its header fields in their order and case, repeated ones too', async () => {
    const { headers } =
      (await requestOf({ path: '/v1/', headers: ['Host', 'a', 'X-B', '2', 'x-a', '1', 'X-b', '3'] })) ?? {};

    expect(headers?.slice(0, 4)).toEqual([
      ['Host', 'a'],
      ['X-B', '2'],
      ['x-a', '1'],
      ['X-b', '3'],
    ]);
  });

  test('has its method, its protocol, and where it came from', async () => {
    expect(await requestOf({ path: '/v1/', method: 'PATCH' })).toMatchObject({
      method: 'PATCH',
      protocol: 'HTTP/1.1',
      sourceIp: '127.0.0.1',
    });
  });
});

describe('the body of a request', () => {
  test('is dropped where it is longer', async () => {
    const tooLong = await requestOf({ path: '/v1/', method: 'PATCH' }, Buffer.alloc(MAX_BODY_BYTES + 1, 'x'));

    expect(tooLong?.bodyTooLarge).toBe(true);
    expect(tooLong?.body).toHaveLength(0);
  });
});

describe('a server', () => {
  test('says in one line where it cannot listen', async () => {
    await expect(listenOn(createServer(), '192.0.2.1', 0)).rejects.toMatchObject({
      name: 'HostError',
      message: expect.stringMatching(/^The address 192\.0\.2\.1 cannot be used: [^\n]+ Choose another with --host\.$/),
    });
  });
});

describe('the host in a URL', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '[::1]'],
    ['192.168.1.5', '192.168.1.5'],
  ])('by which this machine reaches %s is %s', (address, host) => {
    expect(ownHost({ address, port: 3000 })).toBe(host);
  });

  test.each([
    ['127.0.0.1', 'localhost'],
    ['0.0.0.0', 'localhost'],
    ['::', 'localhost'],
    ['fe80::1', '[fe80::1]'],
    ['pets.example.com', 'pets.example.com'],
  ])('for people that stands for %s is %s', (address, host) => {
    expect(urlHost(address)).toBe(host);
  });
});
