import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { API_VERSION } from '../../shared/contract/operations.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

describe('The reference page of a local host', () => {
  let host: LocalHost;
  let script: string;

  beforeAll(async () => {
    host = await LocalHost.start({ sampleData: false });
    const page = await (await fetch(host.origin)).text();
    script = /src="([^"]+\/reference\.js)"/.exec(page)?.[1] ?? '';
  });

  afterAll(() => host.close());

  const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${host.origin}${path}`, init);

  const header = async (name: string, path: string): Promise<string | null> => (await get(path)).headers.get(name);

  /** Sends a request as it stands: `fetch` would mend it. */
  const sendRaw = async (path: string, hostHeader: string) =>
    parseAnswer(
      await exchange(host.origin, `GET ${path} HTTP/1.1\r\nHost: ${hostHeader}\r\nConnection: close\r\n\r\n`),
    );

  test('is at the root, and beside it are the files that it needs', async () => {
    expect(await header('Content-Type', '/')).toBe('text/html; charset=utf-8');
    expect(await header('Content-Type', '/index.html')).toBe('text/html; charset=utf-8');
    expect(await header('Content-Type', '/openapi.json')).toBe('application/json');
    expect(await header('Content-Type', script)).toBe('text/javascript; charset=utf-8');
    expect(await header('Content-Type', script.replace('reference.js', 'favicon.svg'))).toBe('image/svg+xml');
  });

  test('has the demo key of the Free plan filled in', async () => {
    expect(await (await get('/')).text()).toContain(`{"demoKey":"${host.host.keys.free}"}`);
    expect(await (await get('/openapi.json')).text()).toContain(`Bearer ${host.host.keys.free}`);
  });

  test.each(['localhost:3000', 'pets.example.com', '127.0.0.1:80', '[::1]:3000'])(
    'calls the service where the reader has found the page: at %s',
    async (address) => {
      const { text } = await sendRaw('/openapi.json', address);

      expect(JSON.parse(text)).toMatchObject({
        info: { version: API_VERSION },
        servers: [{ url: `http://${address}/v1` }],
      });
      expect((await sendRaw('/', address)).text).toContain(`connect-src 'self' http://${address}/v1/; `);
    },
  );

  test.each([
    `a"onload="alert(1)`,
    'a;script-src *',
    'a b',
    'user@a',
    'a/b',
    '[::1',
    'a:99999999',
    'ä',
    'a'.repeat(300),
  ])('repeats nothing that is no address of a host: %s', async (address) => {
    for (const path of ['/', '/openapi.json', '/nowhere']) {
      const { status, text } = await sendRaw(path, address);

      expect({ status, text: JSON.parse(text) }).toMatchObject({ status: 400, text: { code: 'BAD_REQUEST' } });
    }
  });

  test('may be kept where its path changes with its content, and is asked for anew otherwise', async () => {
    expect(await header('Cache-Control', '/')).toBe('no-cache');
    expect(await header('Cache-Control', '/openapi.json')).toBe('no-cache');
    expect(await header('Cache-Control', script)).toBe('public, max-age=31536000, immutable');
  });

  test.each(['/', '/openapi.json', 'a script'])('is sent compressed to whoever takes it so: %s', async (name) => {
    const path = name.startsWith('/') ? name : script;
    const plain = await get(path, { headers: { 'Accept-Encoding': 'identity' } });
    const refused = await get(path, { headers: { 'Accept-Encoding': 'gzip;q=0' } });
    // Node.js unpacks an answer by itself, so its length is that of the packed one.
    const compressed = await get(path, { headers: { 'Accept-Encoding': 'gzip, br' } });
    const text = await plain.text();

    expect([plain, refused].map(({ headers }) => headers.get('Content-Encoding'))).toEqual([null, null]);
    expect(compressed.headers.get('Content-Encoding')).toBe('gzip');
    expect(Number(compressed.headers.get('Content-Length'))).toBeLessThan(text.length);
    expect(await compressed.text()).toBe(text);
    expect(plain.headers.get('Vary')).toBe('Accept-Encoding');
  });

  test('has the headers that keep it to itself', async () => {
    const { headers } = await get('/');

    expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'; script-src 'self'; ");
    expect(headers.get('Content-Security-Policy')).toContain("connect-src 'self'; ");
    expect(Object.fromEntries(headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  test('answers HEAD as GET, without the file', async () => {
    const head = await get(script, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } });
    const length = (await (await get(script)).arrayBuffer()).byteLength;

    expect(head.status).toBe(200);
    expect(head.headers.get('Content-Length')).toBe(String(length));
    expect(await head.text()).toBe('');
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('is for reading: %s is 405', async (method) => {
    const response = await get('/', { method });

    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe('GET, HEAD');
    expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  test.each([
    '/package.json',
    '/../package.json',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '//etc/passwd',
    '/index.html/',
    '/assets',
    '/__proto__',
    '/favicon.ico',
  ])('has no file but its own: %s', async (path) => {
    const { status, text } = await sendRaw(path, 'localhost');

    expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } });
  });

  test('leaves the root of the address to calls of DynamoDB, and its other paths to API Gateway', async () => {
    const headers = { 'X-Amz-Target': 'DynamoDB_20120810.ListTables', 'Content-Type': 'application/x-amz-json-1.0' };
    const authorization =
      'AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';
    const tables = await get('/', {
      method: 'POST',
      headers: { ...headers, Authorization: authorization, 'X-Amz-Date': '20261121T000000Z' },
      body: '{}',
    });

    expect(await tables.json()).toMatchObject({ TableNames: expect.arrayContaining([host.stockTable]) });
    expect((await get('/usageplans')).headers.get('Content-Type')).toContain('json');
  });
});
