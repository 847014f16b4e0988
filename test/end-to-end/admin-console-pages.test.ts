import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { BrowserContextOptions } from 'playwright-core';
import { type ServedConsole, serveConsole } from '../../infra/admin/console/console-app.ts';
import type { Target } from '../../infra/admin/target.ts';
import { MAX_NAME_BYTES } from '../../shared/key-registry/key-tokens.ts';
import { AdminCommand, adminTarget, closeTarget } from '../support/admin-command.ts';
import { accessibilityFaults, describeInBrowser, TestBrowser } from '../support/browser.ts';
import { MAX_INT64 } from '../support/int64.ts';
import { LocalHost } from '../support/local-host.ts';
import { anEntry, nameOf } from '../support/tables.ts';

// A browser and a host, on a machine that may be busy.
jest.setTimeout(60_000);

const NAME = 'W'.repeat(MAX_NAME_BYTES);
const STOCK = `/stock?petId=${MAX_INT64}`;

describeInBrowser('The pages of the console', () => {
  let host: LocalHost;
  let browser: TestBrowser;
  let target: Target;
  let addresses: readonly string[];

  beforeAll(async () => {
    [browser, host] = await Promise.all([TestBrowser.start(), LocalHost.start()]);
    target = await adminTarget(host);
    const admin = new AdminCommand(host.origin);
    const key = await admin.newKey('create', '--name', NAME, '--plan', 'free');
    await admin.newKey('add', key.id, '--label', 'spare');
    await host.stock.put(anEntry(MAX_INT64));
    const end = `end?token=${encodeURIComponent(nameOf(key))}`;
    const questions = [
      end,
      'suspend',
      'revoke',
      'move?plan=enterprise&perMinute=1&perDay=1',
      'rotate?label=main&grace=0s',
    ];
    const ofKey = [`/keys/${key.id}`, ...questions.map((question) => `/keys/${key.id}/${question}`)];
    addresses = ['/overview', '/nowhere', '/keys', '/keys?q=nobody', '/keys/nope', '/keys/demo-free', ...ofKey, STOCK];
  });

  afterAll(async () => {
    await browser.close();
    closeTarget(target);
    await host.close();
  });

  test.each<
    [string, BrowserContextOptions & { readonly viewport: { readonly width: number; readonly height: number } }]
  >([
    ['wide, light', { viewport: { width: 1280, height: 860 } }],
    ['a phone, dark', { viewport: { width: 400, height: 844 }, isMobile: true, hasTouch: true, colorScheme: 'dark' }],
  ])('everybody can use them, and none scrolls sideways: %s', async (_, screen) => {
    const console: ServedConsole = await serveConsole(target, 0);
    const page = await browser.newPage(screen);
    const at = (path: string): string => console.origin + console.base + path;
    const check = async (address: string): Promise<void> => {
      // A phone shows a page that is too wide with an `innerWidth` as large.
      const overflow = await page.evaluate(`document.documentElement.scrollWidth - ${screen.viewport.width}`);
      const faults = await accessibilityFaults(page);
      const nameless = await page.locator('meter:not([aria-label]), meter[aria-label=""]').count();
      expect({ address, overflow, faults, nameless }).toEqual({ address, overflow: 0, faults: [], nameless: 0 });
    };
    await page.goto(console.link);
    await page.waitForURL(at('/overview'));
    await page.goto(at('/keys/new'));
    await check('/keys/new');
    await page.getByLabel('Name').fill(NAME);
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('Copy the key now').waitFor();
    await check('a new key');
    for (const address of addresses) {
      await page.goto(at(address));
      await check(address);
    }
    await page.getByText('Skip to content').focus();
    await page.keyboard.press('Enter');
    expect(page.url()).toBe(at(`${STOCK}#main`));
    await page.close();
    console.close();
  });
});
