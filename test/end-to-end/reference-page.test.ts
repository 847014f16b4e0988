import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { pageFiles } from '../../infra/reference/page-files.ts';
import { operations } from '../../shared/contract/operations.ts';
import { describeInBrowser, takePicture, TestBrowser } from '../support/browser.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseResponse } from '../support/raw-http.ts';
import { anEntry } from '../support/tables.ts';

/** More digits than a JavaScript number has. */
const LARGE_PET_ID = '9007199254740993';

let host: LocalHost;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
});
afterAll(() => host?.close());

/** The page in a browser, with the errors that it logs and the origins that it calls. */
class ReferencePage {
  readonly page: Page;
  /** Errors, warnings and exceptions of the page. */
  readonly complaints: string[] = [];
  readonly origins = new Set<string>();
  /** The dialog of the try-it. */
  readonly client: Locator;

  constructor(page: Page) {
    this.page = page;
    this.client = page.getByRole('dialog', { name: 'API Client' });
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => {
      if (['error', 'warning', 'assert'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http')) this.origins.add(origin);
    });
  }

  async open(origin: string): Promise<void> {
    await this.page.goto(origin);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
    await takePicture(this.page, 'reference');
  }

  /** Goes to an operation by the menu, and opens its try-it. */
  async sendFromPage(tag: string, method: string, path: string): Promise<void> {
    const links = this.page.locator(`a[href="#tag/${tag}/${method}${path}"]`);
    await links.filter({ visible: true }).first().click();
    const operation = `(${method.toLowerCase()} ${path})`;
    await this.page.getByRole('button', { name: 'Test Request' }).filter({ hasText: operation }).click();
    await this.client.waitFor();
  }

  async closeClient(): Promise<void> {
    await this.client.getByRole('button', { name: 'Close Client' }).first().click();
    await this.client.waitFor({ state: 'hidden' });
  }

  /** Sends what the try-it has; the status (such as `200 OK`) and the body that it then shows. */
  async send(): Promise<{ readonly status: string; readonly body: string }> {
    const sendButton = this.client.getByRole('button', { name: /^Send \w+ request/ }).filter({ visible: true });
    const [response] = await Promise.all([
      this.page.waitForResponse((candidate) => candidate.request().method() !== 'OPTIONS'),
      sendButton.click(),
    ]);
    const shown = this.client.getByRole('region', { name: 'Response', exact: true });
    const status = await shown.getByRole('link', { name: String(response.status()) }).innerText();
    return { status, body: await shown.locator('.cm-content').innerText() };
  }
}

describeInBrowser('the reference page in a browser', () => {
  let browser: TestBrowser;

  beforeAll(async () => {
    browser = await TestBrowser.start();
    await host.stock.putAll([anEntry(101, 4), anEntry(LARGE_PET_ID, 8)]);
  });
  afterAll(() => browser?.close());

  test('has guide and operations at its own origin, and its try-it calls the API', async () => {
    const origin = 'https://reference.invalid';
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const files = pageFiles({ serverUrl: host.baseUrl, environment: 'staging', demoKey: host.host.keys.free });
    await page.route(`${origin}/**`, async (route) => {
      const file = files.get(new URL(route.request().url()).pathname.slice(1) || 'index.html');
      await route.fulfill(file ? { contentType: file.contentType, body: file.read() } : { status: 404 });
    });
    const reference = new ReferencePage(page);
    await reference.open(origin);
    const text = await page.getByRole('main').innerText();
    for (const section of ['First request', 'Deprecations']) expect(text).toContain(section);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').locator('input').fill('Idempotency-Key');
    await page.getByRole('option', { name: 'Retry safely' }).click();
    expect(page.url()).toContain('#description/retry-safely');

    await reference.sendFromPage('inventory', 'PATCH', '/inventory/{petId}');
    const updated = await reference.send();
    expect(updated).toEqual({ status: '200 OK', body: expect.stringContaining('"quantity": 7,') });
    await page.setViewportSize({ width: 390, height: 844 });
    const reply = reference.client.getByRole('region', { name: 'Response', exact: true });
    await reply.evaluate(({ parentElement: form }) => form?.scrollTo(0, form.scrollHeight));
    expect((await reply.boundingBox())?.y).toBeLessThan(0);
    await reference.send();
    expect((await reply.boundingBox())?.y).toBeGreaterThan(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await reference.closeClient();
    await reference.sendFromPage('inventory', 'GET', '/inventory');
    const { body } = await reference.send();
    for (const petId of ['101', LARGE_PET_ID]) expect(body).toContain(`"petId": ${petId},`);
    await reference.closeClient();

    await page.setViewportSize({ width: 390, height: 844 });
    for (const { method, path } of Object.values(operations))
      expect(await page.locator(`a[href$="/${method}${path}"]`).count()).toBeGreaterThan(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    const cellOfText = page.locator('td', { hasText: 'Read the entry, and decide again' });
    expect((await cellOfText.boundingBox())?.width).toBeGreaterThan(300);
    expect(reference.complaints).toEqual([]);
    expect([...reference.origins]).toEqual([origin, host.origin]);
  });
});

const get = (target: string, init: RequestInit = {}): Promise<Response> => fetch(`${host.origin}${target}`, init);

/** Sends a request unchanged: `fetch` would normalize it. */
const sendRaw = async (target: string, hostHeader: string) =>
  parseResponse(
    await exchange(host.origin, `GET ${target} HTTP/1.1\r\nHost: ${hostHeader}\r\nConnection: close\r\n\r\n`),
  );

describe('the reference page of a local server', () => {
  test('is at the root with its files and the demo key of the Free plan', async () => {
    const page = await get('/');
    const html = await page.text();
    const script = await get(/src="([^"]+\/reference\.js)"/.exec(html)?.[1] ?? '', { method: 'HEAD' });

    expect(html).toContain(`{"demoKey":"${host.host.keys.free}"}`);
    expect(await (await get('/openapi.json')).text()).toContain(`Bearer ${host.host.keys.free}`);
    expect([script.status, await script.text(), script.headers.get('Content-Type')]).toEqual([
      200,
      '',
      'text/javascript; charset=utf-8',
    ]);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*connect-src 'self'; /),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  test('calls the service at the address of the page', async () => {
    const address = '[::1]:3000';
    const { text } = await sendRaw('/openapi.json', address);

    expect(JSON.parse(text)).toMatchObject({ servers: [{ url: `http://${address}/v1` }] });
    expect((await sendRaw('/', address)).text).toContain(`connect-src 'self' http://${address}/v1/; `);
  });

  test('returns 405 for POST', async () => {
    const response = await get('/', { method: 'POST' });

    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
    expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });
});
