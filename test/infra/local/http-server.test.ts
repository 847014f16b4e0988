import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { expect, test } from '@jest/globals';
import { createControlPlane } from '../../../infra/local/account/control-plane.ts';
import { forwardToEngine } from '../../../infra/local/dynamodb/forward.ts';
import { createHttpServer, type Service } from '../../../infra/local/http-server.ts';
import { isOwnName, refusalOf } from '../../../infra/local/private-access.ts';
import { localEndpoint } from '../../support/engines.ts';
import { admitting, LocalApis } from './local-api.ts';
import { close, listen } from '../../support/listening.ts';
import { exchange, parseAnswer } from '../../support/raw-http.ts';
import { streaming } from './test-functions.ts';

const apis = new LocalApis();
test('A request that comes before the service is ready waits for it; a list that is streamed has no length', async () => {
  const service = Promise.withResolvers<Service>();
  const server = createHttpServer(service.promise, '127.0.0.1');
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const early = exchange(origin, 'GET /v1/inventory HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const listInventory = streaming(`await write('[1,'); stream.end('2]');`, { statusCode: 200 });
  const { restApi, records } = apis.start({ authorizer: admitting, listInventory });
  const controlPlane = createControlPlane(records, () => undefined);
  service.resolve({ restApi, controlPlane, engineEndpoint: new URL(origin), outputs: {} });
  const { status, headers, text: body } = parseAnswer(await early);
  await close(server);

  expect({ status, body }).toEqual({ status: 200, body: '[1,2]' });
  expect(headers.get('Transfer-Encoding')).toBe('chunked');
  expect(headers.has('Content-Length')).toBe(false);
});

test('A server answers what is no HTTP with an Error body', async () => {
  const server = createHttpServer(new Promise<Service>(() => undefined), '127.0.0.1');
  const answer = parseAnswer(await exchange(`http://127.0.0.1:${await listen(server)}`, 'garbage\r\n\r\n'));
  await close(server);

  expect(answer.status).toBe(400);
  expect(answer.headers.get('X-RateLimit-Limit')).toBe('0');
  expect(JSON.parse(answer.text)).toEqual({ code: 'BAD_REQUEST', message: expect.any(String), status: 400 });
});

test('A long answer that the engine gives without reading the call comes back whole', async () => {
  const size = 5_000_000;
  const engine = createServer((_, answer) => void answer.end(Buffer.alloc(size)));
  const endpoint = localEndpoint(await listen(engine));
  const host = createServer((message, response) => void forwardToEngine(endpoint, message, response));
  const address = localEndpoint(await listen(host));
  const response = await fetch(address, { method: 'POST', body: 'x'.repeat(size) });

  expect((await response.arrayBuffer()).byteLength).toBe(size);
  for (const server of [engine, host]) {
    server.closeAllConnections();
    await close(server);
  }
});

/** A call from an address to one of this machine. */
const call = (remoteAddress: string, headers: object = {}, localAddress = '127.0.0.1') => ({
  headers: { host: 'localhost:3000', ...headers },
  socket: { localAddress, remoteAddress },
});
const own = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' } as const;
const lan = '::ffff:192.168.1.5';

test.each<[string, Parameters<typeof refusalOf>[0], boolean]>([
  ['a program on this machine', call('127.0.0.1'), false],
  ['a page of its own', call('127.0.0.1', own), false],
  ['a program on this machine at an address that others reach', call(lan, {}, lan), false],
  ['another machine', call('::ffff:192.168.1.9', {}, lan), true],
  ['a page elsewhere', call('127.0.0.1', { origin: 'https://example.com' }), true],
  ['a page elsewhere that sends no origin', call('127.0.0.1', { 'sec-fetch-site': 'cross-site' }), true],
])('A call to the private part of the host by %s', (_, caller, isRefused) => {
  expect(refusalOf(caller) !== undefined).toBe(isRefused);
});

test.each([
  ['LOCALHOST:3000', true],
  ['192.168.1.5:3000', true],
  ['[fe80::1]:3000', true],
  [`${hostname()}:3000`, true],
  ['pets.test', true],
  ['rebound.example.com:3000', false],
  ['127.0.0.1.example.com:3000', false],
  ['', false],
])('That a host which listens as pets.test answers to %s is %s', (host, expected) => {
  expect(isOwnName(host, 'pets.test')).toBe(expected);
});
