import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type ServedConsole, serveConsole } from '../../infra/admin/console/console-app.ts';
import type { Target } from '../../infra/admin/target.ts';
import { AdminCommand, adminTarget, closeTarget, whilePausing } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { describeInBrowser, TestBrowser } from '../support/browser.ts';
import { HostClock } from '../support/host-clock.ts';
import { close, listen } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';
import { KEY_PATTERN } from '../support/secrets.ts';
import { nameOf } from '../support/tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// A browser and a host, on a machine that may be busy.
jest.setTimeout(60_000);

const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 860 } };

describeInBrowser('The console in a browser', () => {
  let host: LocalHost;
  let browser: TestBrowser;
  let target: Target;
  let clock: HostClock;
  let console: ServedConsole;
  let page: Page;
  const folder = temporaryFolder();
  const complaints: string[] = [];
  /** The tokens that the admin makes: the first one, the one that takes its place, one that is added. */
  const keys: string[] = [];

  beforeAll(async () => {
    [browser, host] = await Promise.all([TestBrowser.start(), LocalHost.start()]);
    clock = new HostClock();
    // As on AWS, a change returns when it holds everywhere. Here it is the clock of the host that goes on.
    whilePausing((milliseconds) => clock.moveTo(clock.now + milliseconds));
    target = await adminTarget(host);
    console = await serveConsole(target, 0);
    page = await browser.newPage(desktop);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => complaints.push(message.text()));
    await enter(page);
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
  /** By a file that leads to the link, as the command opens one. */
  async function enter(by: Page): Promise<void> {
    const file = join(folder, 'open.html');
    writeFileSync(file, `<meta http-equiv="refresh" content="0; url=${console.link}">`);
    await by.goto(`file://${file}`);
    await by.waitForURL(at('/overview'));
  }

  const note = () => page.getByRole('status').innerText();
  const failure = () => page.getByRole('alert').innerText();
  const press = (name: string) => page.getByRole('button', { name }).click();
  const fill = (label: string, text: string) => page.getByLabel(label).fill(text);
  const statusOf = async (key = ''): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;

  /** Copies the key that is shown. */
  async function copyKey(): Promise<string> {
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const key = String(await page.evaluate('navigator.clipboard.readText()'));
    host.issuedKeys.add(key);
    keys.push(key);
    return key;
  }

  test('the command says where its port is taken', async () => {
    const { port } = new URL(console.origin);

    expect(await new AdminCommand(host.origin).failure('console', '--port', port)).toBe(
      `The port ${port} cannot be used (EADDRINUSE). Choose another with --port.`,
    );
  });

  test('a key that is created and copied calls the API; loaded again, or come back to, the form makes no other', async () => {
    await open('/keys');
    await page.getByRole('link', { name: 'Create a key' }).click();
    await press('Create the key');
    await page.locator('#create-name:focus').waitFor();
    await fill('Name', 'Acme Pets');
    await press('Create the key');
    expect(await statusOf(await copyKey())).toBe(200);

    await page.reload();
    await page.getByRole('heading', { name: 'Create a key' }).waitFor();
    await open('/keys');
    await page.goBack();
    await page.getByRole('heading', { name: 'Create a key' }).waitFor();
    expect(host.host.records.apiKeys.filter(({ name }) => name === 'Acme Pets')).toHaveLength(1);
  });

  test('a page of another origin cannot do anything', async () => {
    const other = await page.context().newPage();
    const body = `<form method="post" action="${at('/keys/new')}"><input name="name" value="evil"><button>Win</button></form>`;
    await other.route('http://evil.invalid/', (route) => route.fulfill({ contentType: 'text/html', body }));
    await other.goto('http://evil.invalid/');
    await Promise.all([other.waitForURL(at('/**')), other.getByRole('button').click()]);

    expect(await other.getByRole('alert').innerText()).toContain('The request came from another page');
    expect(host.host.records.apiKeys.map(({ name }) => name)).not.toContain('evil');
    await other.close();
  });

  test('a program at another port of this machine gets no cookie, whatever it has the browser do', async () => {
    const cookies: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      cookies.push(headers.cookie);
      response.end();
    });
    const port = await listen(server);
    const other = await page.context().newPage();
    for (const path of ['/', '/keys']) await other.goto(`http://127.0.0.1:${port}${path}`);
    await Promise.all([other.close(), close(server)]);

    expect([cookies.length > 1, ...new Set(cookies)]).toEqual([true, undefined]);
  });

  test('the new limits hold at once while a client goes on calling', async () => {
    await open('/keys');
    await fill('Search', 'acme');
    await page.getByText(/^1 of \d+ keys$/).waitFor();
    await page.getByRole('link', { name: 'Acme Pets' }).click();
    clock.moveToFreshMinute();
    const api = ApiClient.withKey(host.baseUrl, keys[0] ?? '');
    const moved = new AbortController();
    const hammer = (async () => {
      for (let calls = 0; !moved.signal.aborted && calls < 50; calls++)
        expect(await api.list()).toMatchObject({ status: 200 });
    })();
    await page.getByLabel('Plan').selectOption('pro');
    await press('Move');
    expect(await note()).toBe('Acme Pets is on Pro now: 300 requests a minute, 10,000 a day.');
    moved.abort();
    await hammer;

    expect((await api.list()).rateLimit.limit).toBe(300);
    await page.getByText(/^[1-9]\d* \/ 300$/).waitFor();
    await page.getByText(/^[1-9]\d* \/ 10,000$/).waitFor();
    await page.getByText(/^The busiest day had \d+ requests/).waitFor();
  });

  test('a rotated token works on beside the new one, and another is added and ended', async () => {
    const address = page.url();
    await fill('Grace', '1h');
    await press('Rotate');
    const key = await copyKey();

    expect([await statusOf(keys[0]), await statusOf(key)]).toEqual([200, 200]);
    await page.goto(address);
    await page.getByText(/^reads and changes, until /).waitFor();

    const inCard = (title: string) => page.locator('.card').filter({ has: page.getByRole('heading', { name: title }) });
    await inCard('Add a token').getByLabel('Token').fill('reports');
    await page.locator('#add-readOnly').selectOption('yes');
    await press('Add a token');
    const reports = await copyKey();
    expect(await statusOf(reports)).toBe(200);
    await page.goto(address);
    await page.getByText('reads only', { exact: true }).waitFor();
    const [old, current] = [keys[0] ?? '', key].map((token) => nameOf({ label: 'main', key: token }));
    const end = async (token: string, label: string): Promise<string> => {
      const name = nameOf({ label, key: token });
      await inCard('End a token').getByLabel('Token').selectOption(name);
      await press('End a token');
      const question = await page.getByText(`Requests with the token ${name}, which works since `).innerText();
      expect(await statusOf(token)).toBe(200);
      await press('End a token');
      expect(await note()).toBe(`The token ${name} of Acme Pets is refused from now on.`);
      expect(await statusOf(token)).toBe(401);
      return question.replaceAll(/\d{4}-[^)]*? UTC/g, 'TIME').replace(/.* TIME, /, '');
    };
    expect(await end(reports, 'reports')).toBe(
      `are refused for good. The key goes on with ${old} (until TIME), ${current}. Nothing takes this back.`,
    );
    expect(await end(keys[0] ?? '', 'main')).toBe(
      `are refused for good. The key goes on with ${current}. Nothing takes this back.`,
    );
    expect(await statusOf(key)).toBe(200);
  });

  test('a suspended key is refused until it is resumed', async () => {
    await open('/keys?state=active&q=acme');
    await page.getByRole('link', { name: 'Acme Pets' }).click();
    await press('Suspend');
    await page.getByText('All its requests are refused until an admin resumes it.').waitFor();
    await page.goBack();
    await fill('For how long', '1h');
    await press('Suspend');
    await page.getByRole('heading', { name: 'Suspend: Acme Pets?' }).waitFor();
    expect(await statusOf(keys[1])).toBe(200);
    await press('Suspend');
    expect(await note()).toMatch(/^Acme Pets is suspended until /);
    expect(await statusOf(keys[1])).toBe(429);

    await press('Resume');
    await page.getByText('Acme Pets is active.').waitFor();
    expect(await statusOf(keys[1])).toBe(200);
  });

  test('a key is revoked once that is confirmed, with its token', async () => {
    await press('Revoke for good');
    await page.getByText('All its requests are refused for good, with its token.').waitFor();
    expect(await statusOf(keys[1])).toBe(200);
    await press('Revoke for good');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(await note()).toMatch(/^Acme Pets \(\w+\) is revoked\.$/);
    expect(await page.getByRole('link', { name: 'Acme Pets' }).count()).toBe(0);
    expect([await statusOf(keys[0]), await statusOf(keys[1])]).toEqual([401, 401]);
  });

  test('the stock of a pet is found while its id is typed', async () => {
    await open('/stock?status=available');
    await fill('Search', '101');
    await page.getByRole('cell', { name: '102' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row').allInnerTexts()).toEqual([expect.any(String), '101\t4\tavailable']);
  });

  test('a file with a wrong row names it and changes nothing; one that is right is imported, and exported', async () => {
    const choose = async (rows: string) => {
      const buffer = Buffer.from(`petId,quantity,status\n${rows}`);
      await page.getByLabel('File').setInputFiles({ name: 'stock.csv', mimeType: 'text/csv', buffer });
      await press('Import');
    };
    await choose('101,3,available\n102,-1,sold\n');
    expect(await failure()).toContain('stock.csv:3: quantity must be an integer from 0 to 2147483647, not -1');
    expect(await host.stock.read('101')).toMatchObject({ quantity: 4 });

    await choose('101,3,available\n');
    expect(await note()).toBe(`Imported 1 stock entry from stock.csv into ${host.origin}.`);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download .csv' }).click();
    const download = await downloading;
    const text = Buffer.concat(await (await download.createReadStream()).toArray()).toString();
    expect(download.suggestedFilename()).toBe('stock.csv');
    expect(text).toMatch(/^petId,quantity,status\n(?:.+\n)*101,3,available\n/);
  });

  test('nothing complains, and no key is in an address or in the browser’s storage', async () => {
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    expect(stored).toBe('[{},{},""]');
    expect(page.url()).not.toMatch(KEY_PATTERN);
  });
});
