import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type ServedConsole, serveConsole } from '../../infra/admin/console/console-app.ts';
import type { Target } from '../../infra/admin/service/target.ts';
import { MAX_NAME_BYTES } from '../../shared/key-registry/record-changes.ts';
import { AdminCommand, adminTarget, closeTarget, whilePausing } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { describeInBrowser, type FormFields, takePicture, TestBrowser, watchForms } from '../support/browser.ts';
import { HostClock } from '../support/clocks.ts';
import { MAX_INT64 } from '../support/int64.ts';
import { LocalHost } from '../support/local-host.ts';
import { KEY_PATTERN } from '../support/secrets.ts';
import { anEntry } from '../support/tables.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const desktop = { width: 1280, height: 860 };
const phone = { width: 400, height: 844 };
/** The widest that a page may have to show. */
const NAME = 'W'.repeat(MAX_NAME_BYTES);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describeInBrowser('The console in a browser', () => {
  let host: LocalHost;
  let browser: TestBrowser;
  let target: Target;
  let clock: HostClock;
  let console: ServedConsole;
  let page: Page;
  let token: string;
  let fields: FormFields;
  const directory = temporaryDirectory();
  const complaints: string[] = [];

  beforeAll(async () => {
    [browser, host] = await Promise.all([TestBrowser.start(), LocalHost.start()]);
    clock = new HostClock();
    // As on AWS, a change returns when it holds everywhere. Here it is the clock of the host that goes on.
    whilePausing((milliseconds) => clock.moveTo(clock.now + milliseconds));
    target = await adminTarget(host);
    console = await serveConsole(target, 0);
    await host.stock.put(anEntry(MAX_INT64));
    page = await browser.newPage({ viewport: desktop });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // What the pages look at every five seconds, they look at every half second.
    await page.addInitScript(
      'const { setInterval: every } = window; window.setInterval = (act, ms) => every(act, ms / 10);',
    );
    fields = await watchForms(page);
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => complaints.push(message.text()));
    await signIn();
  });

  afterAll(async () => {
    clock.release();
    await browser.close();
    console.close();
    closeTarget(target);
    await host.close();
  });

  /** The address of a page. */
  const at = (path: string): string => console.origin + console.base + path;
  const open = (path: string) => page.goto(at(path));
  const note = () => page.getByRole('status').innerText();
  const press = (name: string | RegExp, inside: Page | Locator = page) =>
    inside.getByRole('button', { name, exact: true }).click();
  const status = async (): Promise<number> => (await ApiClient.withKey(host.baseUrl, token).list()).status;

  /** Fills in a form, by the labels of its fields, and sends it. */
  async function send(button: string | RegExp, texts: Readonly<Record<string, string>>, form: Page | Locator = page) {
    for (const [label, text] of Object.entries(texts)) {
      const field = form.getByLabel(label, { exact: true });
      const isChoice = (await field.and(page.locator('select')).count()) > 0;
      await (isChoice ? field.selectOption(text) : field.fill(text));
    }
    await press(button, form);
  }

  /** Sends the form of an action of the key whose page is shown. @param question that the action asks, if it does */
  async function act(title: string, texts: Readonly<Record<string, string>>, question = '') {
    const card = page.locator('details', { has: page.getByText(title, { exact: true }) });
    await card.locator('summary').click();
    await send(new RegExp(title), texts, card);
    if (question === '') return;
    await page.getByText(question).waitFor();
    if (title === 'Revoke permanently') await check('a question');
    await press(title);
  }

  /** Opens the link of the console as its command does: by a file that redirects to it. */
  async function signIn(): Promise<void> {
    const file = join(directory, 'open.html');
    writeFileSync(file, `<meta http-equiv="refresh" content="0; url=${console.link}">`);
    await page.goto(`file://${file}`);
    await page.waitForURL(at('/overview'));
  }

  /** The page is accessible, and does not scroll sideways: on a wide light screen, and on a narrow dark one. */
  async function check(name: string): Promise<void> {
    await page.evaluate(axe);
    for (const [screen, colorScheme, rules] of [
      [desktop, 'light', '{}'],
      [phone, 'dark', '{ runOnly: ["color-contrast", "target-size", "scrollable-region-focusable"] }'],
    ] as const) {
      await page.setViewportSize(screen);
      await page.emulateMedia({ colorScheme });
      const overflow = await page.evaluate(`document.documentElement.scrollWidth - ${screen.width}`);
      const faults = await page.evaluate(`axe.run(${rules}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
      expect({ name, colorScheme, overflow, faults }).toEqual({ name, colorScheme, overflow: 0, faults: [] });
    }
    await page.setViewportSize(desktop);
  }

  test('the command reports a port that is in use', async () => {
    const { port } = new URL(console.origin);

    expect(await new AdminCommand(host.origin).failure('console', '--port', port)).toBe(
      `The port ${port} cannot be used (EADDRINUSE). Choose another with --port.`,
    );
  });

  test('a created token can be copied and calls the API; neither a reload nor a return creates another', async () => {
    await open('/keys');
    await page.getByRole('link', { name: 'Create a key' }).click();
    await press('Create the key');
    await page.locator('#create-name:focus').waitFor();
    await check('errors of a form');
    const agreed = { 'Agreed requests per minute': '90', 'Agreed requests per day': '5,000' };
    await send('Create the key', { Name: NAME, Plan: 'enterprise', ...agreed, Expires: '90d', 'Read-only': 'yes' });
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    token = String(await page.evaluate('navigator.clipboard.readText()'));
    host.issuedKeys.add(token);
    expect(await status()).toBe(200);
    await check('a new token');

    await page.reload();
    await page.getByRole('heading', { name: 'Create a key' }).waitFor();
    await open('/keys');
    await page.goBack();
    await page.getByRole('heading', { name: 'Create a key' }).waitFor();
    expect(host.host.records.apiKeys.filter(({ name }) => name === NAME)).toHaveLength(1);
  });

  test('a key is found and moved, and its page shows requests as they come', async () => {
    await open('/keys');
    await send('Filter', { Search: 'www', Plan: 'enterprise', State: 'expiring' });
    await page.getByText('No keys match').waitFor();
    await send('Filter', { State: 'active' });
    await page.getByText('1 key', { exact: true }).waitFor();
    await page.getByRole('link', { name: NAME }).click();
    const agreed = { 'Agreed requests per minute': '100', 'Agreed requests per day': '6000' };
    await act('Move', { Plan: 'enterprise', ...agreed });
    await act('Move', { Plan: 'pro' });
    expect(await note()).toBe(`${NAME} is on Pro now: 300 requests per minute, 10,000 per day.`);
    clock.moveToFreshMinute();
    for (let calls = 0; calls < 7; calls++) expect(await status()).toBe(200);
    // The page asks again by itself.
    await page.getByText('7 / 300').waitFor();
    await page.getByText(/^\d+ \/ 10,000$/).waitFor();
    await check('a key');
    await page.reload();
    await page.getByText('As a table').click();
    await page.getByLabel('Requests per day', { exact: true }).waitFor();
    await check('its usage');
  });

  test('tokens are added, rotated and revoked; a key is edited, suspended, resumed and revoked', async () => {
    const openKey = () => page.getByRole('link', { name: 'Open the key' }).click();
    await act('Edit', { Name: 'acme', Expires: 'never' });
    expect(await note()).toBe('acme is active. It expires: never.');
    await act('Add a token', { Label: 'reports', 'Read-only': 'yes', Expires: '30d' });
    await openKey();
    await act('Rotate', { Label: 'reports', 'Grace period of the old token': '0s' }, 'are denied immediately');
    await openKey();
    const [reports = ''] = /reports\/\w{4}/.exec(await page.content()) ?? [];
    await act('Revoke a token', { Token: reports }, 'The key keeps main/');
    expect(await note()).toBe(`The token ${reports} of acme is revoked.`);
    await act('Suspend', { Duration: '1h', Reason: 'not paid' }, 'Suspend a key, effective from its next request');
    expect(await status()).toBe(429);
    await act('Resume', {});
    expect([await note(), await status()]).toEqual(['acme is active.', 200]);
    await act('Revoke permanently', { Reason: 'left' }, 'All its requests, with its token, are denied permanently.');
    expect(await note()).toMatch(/^acme \(\w+\) is revoked\.$/);
    expect(await status()).toBe(401);
  });

  test('the stock of a pet is found, set and removed; an import asks first', async () => {
    await open('/stock');
    await send('Filter', { Search: ` ${MAX_INT64}`, Status: 'available' });
    await page.getByRole('heading', { name: `Stock of pet ${MAX_INT64}` }).waitFor();
    await check('stock');
    await page.getByRole('link', { name: 'The first pets' }).click();
    await page.getByRole('link', { name: '101', exact: true }).click();
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'Stock of pet 101' }) });
    await send('Set', { Quantity: '1,007', Status: 'sold', Reason: 'counted' }, card.last());
    expect(await note()).toBe('Pet 101 has quantity 1,007, status sold now.');
    expect(await page.getByRole('cell', { name: 'counted' }).count()).toBe(1);
    await press('Remove …');
    await page.getByText('import a CSV file with the lines petId,quantity,status and 101,1007,sold.').waitFor();
    await check('a question about a removal');
    await press('Remove');
    expect(await note()).toContain('Removed the stock entry of pet 101 (quantity 1,007, status sold)');

    const buffer = Buffer.from('petId,quantity,status\n101,3,available\n');
    await page.getByLabel('File').setInputFiles({ name: 'stock.csv', mimeType: 'text/csv', buffer });
    await press('Import');
    await page.getByRole('heading', { name: 'Import?' }).waitFor();
    await check('a question about an import');
    await press('Import');
    expect(await note()).toBe(`Imported 1 stock entry from stock.csv into ${host.origin}: 1 new, 0 changed.`);
  });

  test('bars are as high as the requests of their day, and the line is at the limit', async () => {
    await open('/keys/demo-free');
    const days = await page.evaluate(`(() => {
      const place = (element) => element.getBoundingClientRect();
      const [base, line] = ['.base', 'line:not(.base)'].map((name) => place(document.querySelector('.days ' + name)).y);
      const numbers = (...pixels) => pixels.map((each) => Math.round((each * 1000) / (base - line)).toLocaleString('en'));
      const days = [...document.querySelectorAll('.days g')].map((day) => {
        const [used, refused] = [...day.querySelectorAll('rect:not(.mark)')].map(place);
        const [tops, heights] = [numbers(base - used.top, used.top - refused.top), numbers(used.height, refused.height)];
        return [day.textContent.match(/[\\d,]+(?= [ar])/g), tops, heights].map(String);
      });
      return { isMonth: days.length > 25, wrong: days.filter(([title, ...drawn]) => drawn.some((each) => each !== title)) };
    })()`);
    expect(days).toEqual({ isMonth: true, wrong: [] });
    await open('/overview');
    await takePicture(page, 'console', 840);
  });

  test.each(['/overview', '/nowhere', '/keys?plan=business', '/keys'])(
    '%s is accessible, also by keyboard',
    async (path) => {
      await open(path);
      await check(path);
      await page.getByText('Skip to content').focus();
      await page.keyboard.press('Enter');
      expect(page.url()).toBe(at(`${path}#main`));
    },
  );

  test('a phone shows the name, state and use of keys without scrolling sideways', async () => {
    await page.setViewportSize(phone);
    await open('/keys');
    const box = await page.getByLabel('Today', { exact: true }).first().boundingBox();
    expect((box?.x ?? phone.width) + (box?.width ?? 0)).toBeLessThan(phone.width - 20);
    await page.setViewportSize(desktop);
  });

  test('every field of every form that a page has shown was filled in and sent', () => {
    expect([...fields.shown.difference(fields.sent)]).toEqual([]);
    expect(fields.sent.size).toBeGreaterThan(20);
  });

  test('the pages log no error, and store no token in the browser', async () => {
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    expect(stored).toBe('[{},{},""]');
    expect(page.url()).not.toMatch(KEY_PATTERN);
  });

  test('figures that are not updated say so', async () => {
    await open('/overview');
    await page.context().setOffline(true);
    const notice = page.locator('[aria-live="polite"]');
    await notice.getByText('the console does not respond').waitFor();
    expect(await notice.innerText()).toMatch(/^These figures are of \d\d:\d\d UTC and not updated: /);
    await check('stale figures');
    await page.context().setOffline(false);
    await notice.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
  });
});
