import http, { type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { pageFiles } from '../../infra/reference/page-files.ts';
import { operations } from '../../shared/contract/operations.ts';
import { describeInBrowser, takePicture, TestBrowser } from '../support/browser.ts';
import { LocalHost } from '../support/local-host.ts';
import { anEntry } from '../support/tables.ts';

/** More digits than a JavaScript number has. */
const LARGE_PET_ID = '9007199254740993';

let host: LocalHost;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
});
afterAll(() => host?.close());

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

describeInBrowser('the reference page in a browser, at an origin of its own,', () => {
  const origin = 'https://reference.invalid';
  /** Errors, warnings and exceptions of the page. */
  const complaints: string[] = [];
  const origins = new Set<string>();
  let browser: TestBrowser;
  let page: Page;
  /** The dialog of the try-it. */
  let client: Locator;

  beforeAll(async () => {
    await host.stock.putAll([anEntry(101, 4), anEntry(LARGE_PET_ID, 8)]);
    const files = pageFiles({ serverUrl: host.baseUrl, environment: 'staging', demoKey: host.host.keys.free });
    browser = await TestBrowser.start();
    page = await browser.newPage({ viewport: DESKTOP });
    client = page.getByRole('dialog', { name: 'API Client' });
    page.on('console', (message) => {
      if (['error', 'warning', 'assert'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http')) origins.add(url.origin);
    });
    await page.route(`${origin}/**`, async (route) => {
      const file = files.get(new URL(route.request().url()).pathname.slice(1) || 'index.html');
      await route.fulfill(file ? { contentType: file.contentType, body: file.read() } : { status: 404 });
    });
    await page.goto(origin);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await takePicture(page, 'reference');
  });
  afterAll(() => browser?.close());

  /** Goes to an operation by the menu, and opens its try-it. */
  async function tryOperation(method: string, path: string): Promise<void> {
    const links = page.locator(`a[href="#tag/inventory/${method}${path}"]`);
    await links.filter({ visible: true }).first().click();
    const operation = `(${method.toLowerCase()} ${path})`;
    await page.getByRole('button', { name: 'Test Request' }).filter({ hasText: operation }).click();
    await client.waitFor();
  }

  /** Sends what the try-it has. @returns the status (such as `200 OK`) and the body that it then shows */
  async function send(): Promise<{ readonly status: string; readonly body: string }> {
    const sendButton = client.getByRole('button', { name: /^Send \w+ request/ }).filter({ visible: true });
    const [response] = await Promise.all([
      page.waitForResponse((candidate) => candidate.request().method() !== 'OPTIONS'),
      sendButton.click(),
    ]);
    const shown = client.getByRole('region', { name: 'Response', exact: true });
    const status = await shown.getByRole('link', { name: String(response.status()) }).innerText();
    return { status, body: await shown.locator('.cm-content').innerText() };
  }

  async function closeClient(): Promise<void> {
    await client.getByRole('button', { name: 'Close Client' }).first().click();
    await client.waitFor({ state: 'hidden' });
  }

  test('has the guide, which its search finds', async () => {
    const text = await page.getByRole('main').innerText();
    for (const section of ['First request', 'Deprecations']) expect(text).toContain(section);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').locator('input').fill('Idempotency-Key');
    await page.getByRole('option', { name: 'Retry safely' }).click();
    expect(page.url()).toContain('#description/retry-safely');
  });

  test('sends an update from its try-it, and on a phone scrolls to the response', async () => {
    await tryOperation('PATCH', '/inventory/{petId}');
    expect(await send()).toEqual({ status: '200 OK', body: expect.stringContaining('"quantity": 7,') });
    await page.setViewportSize(PHONE);
    const response = client.getByRole('region', { name: 'Response', exact: true });
    await response.evaluate(({ parentElement: form }) => form?.scrollTo(0, form.scrollHeight));
    expect((await response.boundingBox())?.y).toBeLessThan(0);
    await send();
    expect((await response.boundingBox())?.y).toBeGreaterThan(0);
    await page.setViewportSize(DESKTOP);
    await closeClient();
  });

  test('shows a list with all digits of its numbers', async () => {
    await tryOperation('GET', '/inventory');
    const { body } = await send();
    for (const petId of ['101', LARGE_PET_ID]) expect(body).toContain(`"petId": ${petId},`);
    await closeClient();
  });

  test('has every operation and wide tables on a phone, and does not scroll sideways', async () => {
    await page.setViewportSize(PHONE);
    for (const { method, path } of Object.values(operations))
      expect(await page.locator(`a[href$="/${method}${path}"]`).count()).toBeGreaterThan(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    const cellOfText = page.locator('td', { hasText: 'Read the entry, and decide again' });
    expect((await cellOfText.boundingBox())?.width).toBeGreaterThan(300);
  });

  test('has reported no error and called only its own origin and the API', () => {
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([origin, host.origin]);
  });
});

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`${host.origin}${path}`, init);

describe('the reference page of a local server', () => {
  test('is at the root with its files and the demo key of the Free plan', async () => {
    const page = await get('/');
    const html = await page.text();
    const script = await get(/src="([^"]+\/reference\.js)"/.exec(html)?.[1] ?? '', { method: 'HEAD' });

    expect(html).toContain(`{"demoKey":"${host.host.keys.free}"}`);
    expect([script.status, script.headers.get('Content-Type')]).toEqual([200, 'text/javascript; charset=utf-8']);
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
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    http.get(`${host.origin}/openapi.json`, { headers: { Host: '[::1]:3000' } }, resolve);

    expect(await json(await promise)).toMatchObject({ servers: [{ url: 'http://[::1]:3000/v1' }] });
  });

  test.each([
    ['POST', '/', 405, 'GET, HEAD'],
    ['GET', '/inventory', 404, null],
  ])('refuses %s %s with %i', async (method, path, status, allowed) => {
    const response = await get(path, { method });

    expect([response.status, response.headers.get('Allow')]).toEqual([status, allowed]);
  });
});
