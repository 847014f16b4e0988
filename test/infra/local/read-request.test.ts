import { createServer, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { listen as listenOn, ownHost, urlHost } from '../../../infra/local/listening.ts';
import { readRequest } from '../../../infra/local/read-request.ts';
import { close, listen } from '../../support/listening.ts';

/** What the gateway gets of a request. */
function requestOf(url: string, rawHeaders: string[] = [], body = Buffer.alloc(0)) {
  const message = Object.assign(new IncomingMessage(new Socket()), { url, rawHeaders, method: 'PATCH' });
  message.push(body);
  message.push(null);
  return readRequest(message, 'v1');
}

describe('a request', () => {
  test.each([
    ['/v1', '/', ''],
    ['/v1/inventory/4%32', '/inventory/4%32', ''],
    ['http://localhost/v1/v1/inventory?a=1&b=%C3%A4', '/v1/inventory', 'a=1&b=%C3%A4'],
  ])('for %s has the path %s below the stage, as it was sent, and the query %s', async (url, path, query) => {
    expect(await requestOf(url)).toMatchObject({ path, query });
  });

  test('has its header fields in their order and case, repeated ones too', async () => {
    const headers = ['Host', 'a', 'X-B', '2', 'x-a', '1', 'X-b', '3'];

    expect((await requestOf('/v1/', headers)).headers.flat()).toEqual(headers);
  });

  test('has no body where it is over 10 MB', async () => {
    expect(await requestOf('/v1/', [], Buffer.alloc(10 * 1024 * 1024 + 1))).toMatchObject({
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
