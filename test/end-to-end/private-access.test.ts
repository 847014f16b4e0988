import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHttpServer } from '../../infra/local/http-server.ts';
import { close, listen } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

const signature =
  'AWS4-HMAC-SHA256 Credential=x/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x';

const listTables = {
  method: 'POST',
  path: '/',
  headers: {
    authorization: signature,
    'x-amz-date': '20261122T000000Z',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    'content-type': 'application/x-amz-json-1.0',
  },
  body: '{}',
};

const calls = {
  'the database': listTables,
  'the keys': { method: 'GET', path: '/apikeys?includeValues=true', headers: { authorization: signature }, body: '' },
  'the outputs': { method: 'GET', path: '/outputs.json', headers: {}, body: '' },
};

type Call = (typeof calls)[keyof typeof calls];

/** `fetch` lets nobody set `Host`. */
async function send(address: URL, { method, path, headers, body }: Call, more: IncomingHttpHeaders = {}) {
  const call = request(new URL(path, address), { method, headers: { ...headers, ...more } });
  call.end(body);
  const [answer] = await once(call, 'response');
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}

describe('The host', () => {
  let host: LocalHost;

  beforeAll(async () => {
    host = await LocalHost.start();
  });

  afterAll(() => host.close());

  describe.each(Object.entries(calls))('tells %s', (_, call) => {
    test('to whoever calls it by its address', async () => {
      expect(await send(new URL(host.origin), call)).toMatchObject({ status: 200 });
    });

    test.each<[string, IncomingHttpHeaders]>([
      ['by a name that was made to resolve to this machine', { host: 'rebound.example.com' }],
      ['from a page elsewhere', { origin: 'https://example.com' }],
    ])('to nobody %s', async (_by, headers) => {
      const answer = await send(new URL(host.origin), call, headers);

      expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('AccessDeniedException') });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    });
  });

  test('alone may call the engine: whoever only finds its port is told nothing', async () => {
    const found = new URL('/', host.host.engineEndpoint);

    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await send(found, { ...listTables, method, body: '' }, { origin: 'https://example.com' });
      expect(answer).toMatchObject({ status: 404, text: '' });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('answers a request with two Host headers with 400', async () => {
    const fields = 'Host: localhost\r\nhost: example.com\r\nConnection: close\r\n';

    expect(parseAnswer(await exchange(host.origin, `GET /v1/inventory HTTP/1.1\r\n${fields}\r\n`)).status).toBe(400);
  });

  test('is no proxy', async () => {
    const answer = parseAnswer(
      await exchange(host.origin, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'),
    );

    expect(answer.status).toBe(405);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'METHOD_NOT_ALLOWED', status: 405 });
  });
});

test('A body that is sent in part ends with 408', async () => {
  const access = { host: '127.0.0.1', isOpen: false };
  const timings = { requestTimeout: 50, connectionsCheckingInterval: 20 };
  const server = createHttpServer(new Promise(() => undefined), access, timings);
  const port = await listen(server);
  const answer = await exchange(
    `http://127.0.0.1:${port}`,
    'PATCH /v1/inventory/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
  );
  await close(server);

  expect(parseAnswer(answer)).toMatchObject({ status: 408, text: expect.stringContaining('did not arrive in time') });
});
