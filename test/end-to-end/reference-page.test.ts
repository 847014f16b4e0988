import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pageFiles } from '../../infra/reference/page-files.ts';
import { operations } from '../../shared/contract/operations.ts';
import { browserObstacle, type Screen, TestBrowser } from '../support/browser.ts';
import { LocalHost } from '../support/local-host.ts';
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
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
};

if (browserObstacle !== undefined) {
  process.stderr.write(`The tests of the reference page in a browser are skipped: ${browserObstacle}.\n`);
}

(browserObstacle === undefined ? describe : describe.skip)('The reference page in a browser', () => {
  let browser: TestBrowser;
  let host: LocalHost;

  beforeAll(async () => {
    [browser, host] = await Promise.all([
      TestBrowser.start(),
      LocalHost.start({ sampleData: false, pageOrigin: 'https://reference.invalid' }),
    ]);
    await host.putStock(
      { petId: 101n, quantity: 4, status: 'available' },
      { petId: LARGE_PET_ID, quantity: 8, status: 'available' },
    );
  });

  afterAll(async () => {
    await browser.close();
    await host.close();
  });

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
