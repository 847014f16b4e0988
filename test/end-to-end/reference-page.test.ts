import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pageFiles } from '../../infra/reference/page-files.ts';
import { API_VERSION, operations } from '../../shared/contract/operations.ts';
import { browserObstacle, type Screen, TestBrowser } from '../support/browser.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';
import { ReferencePage } from '../support/reference-page.ts';

const desktop: Screen = { width: 1440, height: 900 };
const phone: Screen = { width: 390, height: 844, isPhone: true };

/** Folder for pictures of the page, for somebody to look at; none are taken without. */
const pictures = process.env.REFERENCE_PAGE_PICTURES;

/** More digits than a JavaScript number has. */
const LARGE_PET_ID = 9_007_199_254_740_993n;

const takePicture = async ({ page }: ReferencePage, name: string): Promise<void> => {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
};

let host: LocalHost;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false, pageOrigin: 'https://reference.invalid' });
});

afterAll(() => host.close());

if (browserObstacle !== undefined) {
  process.stderr.write(`The tests of the reference page in a browser are skipped: ${browserObstacle}.\n`);
}

(browserObstacle === undefined ? describe : describe.skip)('The reference page in a browser', () => {
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await TestBrowser.start();
    await host.putStock(
      { petId: 101n, quantity: 4, status: 'available' },
      { petId: LARGE_PET_ID, quantity: 8, status: 'available' },
    );
  });

  afterAll(() => browser.close());

  const openedAt = async (origin: string): Promise<ReferencePage> => {
    const page = await browser.newPage(desktop);
    const files = pageFiles({ serverUrl: host.baseUrl, environment: 'staging' });
    await page.route(`${origin}/**`, async (route) => {
      const file = files.get(new URL(route.request().url()).pathname.slice(1) || 'index.html');
      await route.fulfill(file ? { contentType: file.contentType, body: file.read() } : { status: 404 });
    });
    const reference = new ReferencePage(page);
    await reference.open(origin);
    await reference.tryOut('GET', '/inventory');
    return reference;
  };

  describe.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('on a %s', (name, screen) => {
    let reference: ReferencePage;

    beforeAll(async () => {
      reference = new ReferencePage(await browser.newPage(screen));
      await reference.open(host.origin);
    });

    test('has the guide and every operation', async () => {
      const text = await reference.page.getByRole('main').innerText();
      await takePicture(reference, `${name}-guide`);

      expect(await reference.page.title()).toBe('Pet Store Inventory Service: API reference');
      expect(text).toContain('First request');
      expect(text).toContain('Deprecations');
      for (const { method, path: operationPath } of Object.values(operations)) {
        expect(await reference.linksTo(method, operationPath)).toBeGreaterThan(0);
      }
    });

    test('makes a first request with the demo key, and shows all digits of the answer', async () => {
      await reference.tryOut('GET', '/inventory');
      const { status, body } = await reference.send();
      await takePicture(reference, `${name}-answer`);

      expect(status).toBe('200 OK');
      expect(body).toContain('"petId": 101,');
      expect(body).toContain(`"petId": ${LARGE_PET_ID},`);
    });

    test('has nothing to complain about, and sends nothing to anybody else', () => {
      expect(reference.complaints).toEqual([]);
      expect([...reference.origins]).toEqual([host.origin]);
    });

    test('sends no key once the reader has removed it', async () => {
      await reference.removeKey();
      const { status, body } = await reference.send();

      expect(status).toBe('401 Unauthorized');
      expect(body).toContain('"code": "API_KEY_MISSING"');
    });

    test('is never wider than the screen', async () => {
      expect(await reference.overflow()).toBe(0);
    });
  });

  test('in the dark sets the stock of a pet as it proposes', async () => {
    const reference = new ReferencePage(await browser.newPage({ ...desktop, colorScheme: 'dark' }));
    await reference.open(host.origin);
    await takePicture(reference, 'dark-guide');
    await reference.tryOut('PATCH', '/inventory/{petId}');
    const { status, body } = await reference.send();
    await takePicture(reference, 'dark-answer');

    expect(status).toBe('200 OK');
    expect(body).toContain('"quantity": 7,');
    expect(reference.complaints).toEqual([]);
  });

  describe('at an origin of its own, as on AWS', () => {
    test('calls the API with the key that the reader enters', async () => {
      const reference = await openedAt('https://reference.invalid');
      await reference.enterKey(host.host.keys.free);
      const { status, body } = await reference.send();

      expect(status).toBe('200 OK');
      expect(body).toContain('"petId": 101,');
      expect(reference.complaints).toEqual([]);
      expect([...reference.origins]).toEqual(['https://reference.invalid', host.origin]);
    });

    test('gets nothing from an API that allows another origin', async () => {
      const reference = await openedAt('https://elsewhere.invalid');

      expect(await reference.sendInVain()).toContain('Failed to fetch');
      expect(reference.complaints.join('\n')).toContain('blocked by CORS policy');
    });
  });
});

const get = (target: string, init: RequestInit = {}): Promise<Response> => fetch(`${host.origin}${target}`, init);

const header = async (name: string, target: string): Promise<string | null> => (await get(target)).headers.get(name);

/** Sends a request as it stands: `fetch` would mend it. */
const sendRaw = async (target: string, hostHeader: string) =>
  parseAnswer(
    await exchange(host.origin, `GET ${target} HTTP/1.1\r\nHost: ${hostHeader}\r\nConnection: close\r\n\r\n`),
  );

describe('The reference page of a local host', () => {
  let script: string;

  beforeAll(async () => {
    const page = await (await fetch(host.origin)).text();
    script = /src="([^"]+\/reference\.js)"/.exec(page)?.[1] ?? '';
  });

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

  test.each(['localhost:3000', '[::1]:3000'])(
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

  test.each([`a"onload="alert(1)`, 'a;script-src *', 'user@a', 'a'.repeat(300)])(
    'repeats nothing that is no address of a host: %s',
    async (address) => {
      for (const path of ['/', '/openapi.json']) {
        const { status, text } = await sendRaw(path, address);

        expect({ status, text: JSON.parse(text) }).toMatchObject({ status: 400, text: { code: 'BAD_REQUEST' } });
      }
    },
  );

  test('is sent compressed to whoever takes it so', async () => {
    const path = script;
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

  test.each(['POST', 'OPTIONS'])('is for reading: %s is 405', async (method) => {
    const response = await get('/', { method });

    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe('GET, HEAD');
    expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  test.each(['/package.json', '/assets/%2e%2e/%2e%2e/package.json', '//etc/passwd', '/index.html/', '/__proto__'])(
    'has no file but its own: %s',
    async (path) => {
      const { status, text } = await sendRaw(path, 'localhost');

      expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } });
    },
  );
});
