import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, checked } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** On the path of an operation `OPTIONS` is a browser's preflight. */
const otherThan = (answered: string): string[] =>
  METHODS.filter((method) => method !== answered && method !== 'OPTIONS');

describe('Routes', () => {
  let host: LocalHost;
  let api: ApiClient;
  let token: string;

  beforeAll(async () => {
    host = await LocalHost.start();
    ({ token } = await issueKey(host));
    api = ApiClient.withKey(host.baseUrl, token);
  });

  afterAll(() => host.close());

  describe('405 on a path that has other methods, with Allow', () => {
    test.each(
      [
        ['/inventory', 'GET'],
        ['/inventory/101', 'PATCH'],
        ['/pets/101', 'GET'],
        ['/store/orders', 'GET'],
      ].flatMap(([path = '', answered = '']) => otherThan(answered).map((method) => [method, path, answered])),
    )('%s %s, which answers %s', async (method, path, answered) => {
      const answer = await api.send(method, path);

      expect(answer.status).toBe(405);
      expect(answer.headers.get('Allow')).toBe(answered);
    });

    test('the Error body says what is wrong', async () => {
      expect(await api.send('DELETE', '/inventory')).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
    });

    test('PUT does not update', async () => {
      const before = (await api.list()).text;
      await api.send('PUT', '/inventory/101', {
        headers: { 'Content-Type': 'application/json' },
        body: '{"quantity":99}',
      });

      expect((await api.list()).text).toBe(before);
    });
  });

  describe('404 on a path that is no operation', () => {
    test.each([
      '',
      '/',
      '/nowhere',
      '/Inventory',
      '/inventory/101/quantity',
      '/inventory%2F101',
      '/%zz',
      '/%E0%A4%A',
      '/inventory;a=b',
      '/v1/inventory',
      '/__proto__',
    ])('GET %s', async (path) => {
      expect(await api.send('GET', path)).toMatchObject({ status: 404, error: { code: 'ROUTE_NOT_FOUND' } });
    });

    test('a path of hundreds of parts', async () => {
      expect(await api.send('GET', `/${'deep/'.repeat(500)}`)).toMatchObject({ status: 404 });
    });

    test.each(METHODS)('%s /nowhere', async (method) => {
      expect(await api.send(method, '/nowhere')).toMatchObject({ status: 404 });
    });

    test('a path that dots lead out of the stage', async () => {
      const fields = `Host: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;
      const text = await exchange(host.origin, `GET /v1/../outputs.json HTTP/1.1\r\n${fields}\r\n`);

      expect(checked(parseAnswer(text))).toMatchObject({ status: 404, error: { code: 'ROUTE_NOT_FOUND' } });
    });
  });

  describe('Beside the stage', () => {
    test.each(['/v2/inventory', '/v1inventory', '/inventory', '/favicon.ico'])(
      'GET %s of the host is 404 and says where the API is',
      async (path) => {
        expect(await new ApiClient(host.origin, undefined).send('GET', path)).toMatchObject({
          status: 404,
          error: { code: 'ROUTE_NOT_FOUND', message: expect.stringContaining(host.baseUrl) },
        });
      },
    );

    test('tools find the outputs of the stack', async () => {
      const response = await fetch(`${host.origin}/outputs.json`);

      expect(await response.json()).toMatchObject({
        StockTableName: host.stockTable,
        KeysTableName: host.keysTable,
      });
    });
  });
});
