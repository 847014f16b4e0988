import { createServer, IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { forwardToEngine } from '../../../infra/local/dynamodb/engine.ts';
import type { RestApi } from '../../../infra/local/gateway/rest-api.ts';
import { createHttpServer, type Service } from '../../../infra/local/http-server.ts';
import { callerRefusal, isOwnName, listen as listenOn, ownHost, urlHost } from '../../../infra/local/addresses.ts';
import { readRequest } from '../../../infra/local/gateway/request.ts';
import { Terminal } from '../../../infra/local/terminal.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { localEndpoint } from '../../support/engines.ts';
import { close, listen } from '../../support/listening.ts';
import { HANG_MS } from '../../support/until.ts';

/** A server for one gateway. It uses nothing else of it. */
function serviceOf(respond: () => Promise<object>): Service {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const restApi = { stage: 'v1', respond } as unknown as RestApi;
  return { restApi, controlPlane: () => Promise.resolve(), engineEndpoint: new URL('http://engine'), outputs: {} };
}

const streaming = serviceOf(async () => ({ status: 200, headers: [], body: Readable.from(['[1,', '2]']) }));

let shown: string;
const show = (text: string | Uint8Array) => Boolean((shown += stripVTControlCharacters(text.toString())));
beforeEach(() => void (shown = ''));

/** The response of a server to bytes on a connection of their own, on which it may have an error. */
async function responseTo(bytes: string, service = Promise.resolve(streaming), error?: Error) {
  const server = createHttpServer(service, '127.0.0.1', new Terminal(show));
  if (error) server.once('connection', (socket) => server.emit('clientError', error, socket));
  const socket = connect(await listen(server), '127.0.0.1');
  socket.setTimeout(HANG_MS, () => socket.destroy(new Error('The server neither responds nor closes the connection')));
  socket.write(bytes);
  const [head = '', body = ''] = (await textOf(socket)).split('\r\n\r\n');
  await close(server);
  // A chunk has two lines: its length, and a part of the body.
  const chunks = body.split('\r\n').filter((_, line) => line % 2 === 1);
  const text = /^Transfer-Encoding: chunked$/im.test(head) ? chunks.join('') : body;
  return { status: Number(head.split(' ')[1]), head, text };
}

const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`;

test('a request waits until the service is ready, and its streamed response has no Content-Length', async () => {
  const { promise: service, resolve } = Promise.withResolvers<Service>();
  const early = responseTo(get('/v1/inventory'), service);
  resolve(streaming);
  const { status, head, text } = await early;

  expect({ status, text }).toEqual({ status: 200, text: '[1,2]' });
  expect(head).toMatch(/^Transfer-Encoding: chunked$/im);
  expect(head).not.toMatch(/^Content-Length/im);
});

test('a fault of the server returns 500, and the terminal shows it under the request, without the query', async () => {
  jest.spyOn(process.stderr, 'write').mockImplementation(show);
  const service = serviceOf(() => Promise.reject(new Error('a fault', { cause: new Error('its cause') })));
  const { status } = await responseTo(get('/v1/%C2%9B?a=secret'), Promise.resolve(service));
  jest.restoreAllMocks();

  expect(status).toBe(500);
  expect(shown).toMatch(
    /^[\d:]{8} GET \/v1\/%C2%9B 500 \d+ ms -\nError: a fault\n {4}at [^]+\[cause\]: Error: its cause\n {6}at [^]+$/,
  );
  expect(shown).not.toContain('secret');
});

test.each([
  ['is not HTTP', 'garbage\r\n\r\n', 'This is not a valid HTTP request.'],
  ['has no Host', 'GET /v1/inventory HTTP/1.1\r\nConnection: close\r\n\r\n', 'The Host header is missing'],
  [
    'has longer headers than AWS accepts',
    get('/v1/inventory', `X-Long: ${'a'.repeat(10_240)}\r\n`),
    'This has more than 10240 bytes before its body.',
  ],
])('a request that %s gets 400 with an Error body', async (_, bytes, message) => {
  const { status, head, text } = await responseTo(bytes);

  expect(status).toBe(400);
  expect(head).toMatch(/^X-RateLimit-Limit: 0$/im);
  expect(JSON.parse(text)).toEqual({ code: 'BAD_REQUEST', message: expect.stringContaining(message), status: 400 });
});

test('a request whose headers take too long gets 408, and the terminal shows it', async () => {
  const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const { status, text } = await responseTo('GET / HTTP', undefined, timeout);

  expect(status).toBe(408);
  expect(JSON.parse(text)).toMatchObject({ code: 'BAD_REQUEST', status: 408 });
  expect(shown).toMatch(/ - - 408 0 ms -\n$/);
});

test('the terminal hides a token in a path', () => {
  const token = generateToken();
  new Terminal(show).request({ method: 'GET', path: `/v1/${token}`, status: 404, milliseconds: 1 });

  expect(shown).toContain('/v1/%E2%80%A6');
  expect(shown).not.toContain(token.slice(4, 20));
});

test('a long response arrives whole even if the engine does not read the request', async () => {
  const size = 5_000_000;
  const engine = createServer((_, reply) => void reply.end(Buffer.alloc(size)));
  const endpoint = localEndpoint(await listen(engine));
  const host = createServer((message, response) => void forwardToEngine(endpoint, message, response));
  const response = await fetch(localEndpoint(await listen(host)), { method: 'POST', body: 'x'.repeat(size) });

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
const lan = '::ffff:192.168.1.5';

test.each<[string, Parameters<typeof callerRefusal>[0], boolean]>([
  ['a local program', call('127.0.0.1'), false],
  [
    'a page of the host',
    call('127.0.0.1', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }),
    false,
  ],
  ['a local program at a LAN address', call(lan, {}, lan), false],
  ['another machine', call('::ffff:192.168.1.9', {}, lan), true],
  ['a tunnel', call('127.0.0.1', { 'x-forwarded-for': '' }), true],
  ['a proxy', call('127.0.0.1', { forwarded: 'for=192.0.2.1' }), true],
  ['another proxy', call('127.0.0.1', { via: '1.1 proxy' }), true],
  ['a page elsewhere', call('127.0.0.1', { origin: 'https://example.com' }), true],
  ['a page elsewhere that sends no origin', call('127.0.0.1', { 'sec-fetch-site': 'cross-site' }), true],
])('A call to the private part of the server by %s', (_, caller, isRefused) => {
  expect(callerRefusal(caller) !== undefined).toBe(isRefused);
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
])('A server that listens as pets.test answers to %s: %s', (host, expected) => {
  expect(isOwnName(host, 'pets.test')).toBe(expected);
});

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
  ])('for %s has the undecoded path %s and query %s', async (url, path, query) => {
    expect(await requestOf(url)).toMatchObject({ path, query });
  });

  test('keeps the order, case and repetition of its headers', async () => {
    const headers = ['Host', 'a', 'X-B', '2', 'x-a', '1', 'X-b', '3'];

    expect((await requestOf('/v1/', headers)).headers.flat()).toEqual(headers);
  });

  test('has no body if it is over 10 MB', async () => {
    expect(await requestOf('/v1/', [], Buffer.alloc(10 * 1024 * 1024 + 1))).toMatchObject({
      bodyTooLarge: true,
      body: Buffer.alloc(0),
    });
  });
});

const reasonFor = (host: string, port: number) => listenOn(createServer(), host, port).catch(String);

test('a server that cannot listen says why in one line', async () => {
  const other = createServer();
  const taken = await listen(other);

  expect(await reasonFor('127.0.0.1', taken)).toMatch(`LocalServerError: Port ${taken} is in use. Choose another with`);
  expect(await reasonFor('192.0.2.1', 0)).toMatch(
    /^LocalServerError: The address 192\.0\.2\.1 cannot be used: [^\n]+--host\.$/,
  );
  await close(other);
});

test.each([
  ['127.0.0.1', '127.0.0.1', 'localhost'],
  ['0.0.0.0', '127.0.0.1', 'localhost'],
  ['::', '[::1]', 'localhost'],
  ['fe80::1', '[fe80::1]', '[fe80::1]'],
])('a server at %s is called locally at %s and displayed as %s', (address, fromHere, forPeople) => {
  expect(ownHost({ address, port: 3000 })).toBe(fromHere);
  expect(urlHost(address)).toBe(forPeople);
});
