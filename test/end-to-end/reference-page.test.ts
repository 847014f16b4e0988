import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pageFiles } from '../../infra/reference/page-files.ts';
import { API_VERSION, operations } from '../../shared/contract/operations.ts';
import { browserObstacle, TestBrowser } from '../support/browser.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';
import { ReferencePage } from '../support/reference-page.ts';
import { anEntry } from '../support/tables.ts';

const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { width: 390, height: 844 };

/** More digits than a JavaScript number has. */
const LARGE_PET_ID = 9_007_199_254_740_993n;

let host: LocalHost;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
});

afterAll(() => host.close());

if (browserObstacle !== undefined) {
  process.stderr.write(`The tests of the reference page in a browser are skipped: ${browserObstacle}.\n`);
}

(browserObstacle === undefined ? describe : describe.skip)('The reference page in a browser', () => {
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await TestBrowser.start();
    await host.stock.putAll([anEntry(101, 4), anEntry(String(LARGE_PET_ID), 8)]);
  });

  afterAll(() => browser.close());

  describe('of a local host', () => {
    let reference: ReferencePage;

    beforeAll(async () => {
      reference = new ReferencePage(await browser.newPage(desktop));
      await reference.open(host.origin);
    });

    test('has the guide', async () => {
      const text = await reference.page.getByRole('main').innerText();

      expect(await reference.page.title()).toBe('Pet Store Inventory Service: API reference');
      expect(text).toContain('First request');
      expect(text).toContain('Deprecations');
    });

    test('makes a first request with the demo key, and shows all digits of the answer', async () => {
      await reference.tryOut('GET', '/inventory');
      const { status, body } = await reference.send();

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

    test('has every operation, and is never wider than the screen of a phone', async () => {
      await reference.closeTryOut();
      await reference.page.setViewportSize(phone);

      for (const { method, path } of Object.values(operations)) {
        expect(await reference.linksTo(method, path)).toBeGreaterThan(0);
      }
      expect(await reference.overflow()).toBe(0);
    });
  });

  test('at an origin of its own, as on AWS, calls the API with the key that the reader enters', async () => {
    const origin = 'https://reference.invalid';
    const page = await browser.newPage(desktop);
    const files = pageFiles({ serverUrl: host.baseUrl, environment: 'staging' });
    await page.route(`${origin}/**`, async (route) => {
      const file = files.get(new URL(route.request().url()).pathname.slice(1) || 'index.html');
      await route.fulfill(file ? { contentType: file.contentType, body: file.read() } : { status: 404 });
    });
    const reference = new ReferencePage(page);
    await reference.open(origin);
    await reference.tryOut('PATCH', '/inventory/{petId}');
    await reference.enterKey(host.host.keys.free);
    const { status, body } = await reference.send();

    expect(status).toBe('200 OK');
    expect(body).toContain('"quantity": 7,');
    expect(reference.complaints).toEqual([]);
    expect([...reference.origins]).toEqual([origin, host.origin]);
  });
});

const get = (target: string, init: RequestInit = {}): Promise<Response> => fetch(`${host.origin}${target}`, init);

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
    const files = ['/', '/openapi.json', script, script.replace('reference.js', 'favicon.svg')];
    const answers = await Promise.all(files.map((file) => get(file)));

    expect(answers.map(({ headers }) => headers.get('Content-Type'))).toEqual([
      'text/html; charset=utf-8',
      'application/json',
      'text/javascript; charset=utf-8',
      'image/svg+xml',
    ]);
  });

  test('has the demo key of the Free plan filled in', async () => {
    expect(await (await get('/')).text()).toContain(`{"demoKey":"${host.host.keys.free}"}`);
    expect(await (await get('/openapi.json')).text()).toContain(`Bearer ${host.host.keys.free}`);
  });

  test('calls the service where the reader has found the page', async () => {
    const address = '[::1]:3000';
    const { text } = await sendRaw('/openapi.json', address);

    expect(JSON.parse(text)).toMatchObject({
      info: { version: API_VERSION },
      servers: [{ url: `http://${address}/v1` }],
    });
    expect((await sendRaw('/', address)).text).toContain(`connect-src 'self' http://${address}/v1/; `);
  });

  test.each([`a"onload="alert(1)`, 'a;script-src *'])(
    'repeats nothing that is no address of a host: %s',
    async (address) => {
      for (const path of ['/', '/openapi.json']) {
        const { status, text } = await sendRaw(path, address);

        expect({ status, text: JSON.parse(text) }).toMatchObject({ status: 400, text: { code: 'BAD_REQUEST' } });
      }
    },
  );

  test('is sent to HEAD without the file', async () => {
    const [whole, head] = await Promise.all([get(script), get(script, { method: 'HEAD' })]);
    expect(head.headers.get('Content-Length')).toBe(String((await whole.bytes()).length));
    expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' });
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

  test('is for reading: POST is 405', async () => {
    const response = await get('/', { method: 'POST' });

    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe('GET, HEAD');
    expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  test.each(['/package.json', '/assets/%2e%2e/%2e%2e/package.json'])('has no file but its own: %s', async (path) => {
    const { status, text } = await sendRaw(path, 'localhost');

    expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } });
  });
});
