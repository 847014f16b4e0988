import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildSync } from 'esbuild';
import { browserObstacle, TestBrowser } from '../../support/browser.ts';
import { issueKey } from '../../support/issue-key.ts';
import { LocalHost } from '../../support/local-host.ts';

const entryPoint = path.join(import.meta.dirname, '../../../shared/client/pet-store-inventory-client.ts');

if (browserObstacle !== undefined) {
  process.stderr.write(`The test of the client in a browser is skipped: ${browserObstacle}.\n`);
}

(browserObstacle === undefined ? describe : describe.skip)('the client in a browser', () => {
  let browser: TestBrowser;
  let host: LocalHost;

  beforeAll(async () => {
    [browser, host] = await Promise.all([TestBrowser.start(), LocalHost.start()]);
  });
  afterAll(() => Promise.all([browser.close(), host.close()]));

  test('lists, updates and fails as it does elsewhere', async () => {
    const options = { bundle: true, write: false, format: 'iife', globalName: 'client', platform: 'browser' } as const;
    const [bundle] = buildSync({ entryPoints: [entryPoint], ...options }).outputFiles;
    const { token } = await issueKey(host);
    await host.putStock({ petId: 9223372036854775807n, quantity: 1, status: 'sold' });
    const page = await browser.newPage({ width: 800, height: 600 });
    await page.goto(`${host.origin}/outputs.json`);
    const seen: unknown = await page.evaluate(`(async () => {
      ${bundle?.text ?? ''}
      const text = (error) => [error.name, error.code ?? error.reason, error.attempts].join(' ');
      const store = new client.InventoryClient({ baseUrl: '${host.baseUrl}/', apiKey: '${token}' });
      let last;
      for await (const entry of store.listInventory({ status: 'sold' })) last = entry;
      const { data, etag, limits } = await store.updateInventory(last.petId, 2);
      await store.updateInventory(last.petId, 3, { ifMatch: etag });
      const stale = await store.updateInventory(last.petId, 4, { ifMatch: etag }).catch(text);
      const nowhere = { baseUrl: '${host.origin.replace(/:\d+$/, ':9')}/v1', apiKey: 'x', maxRetries: 1, retryDelay: 1 };
      const unanswered = await new client.InventoryClient(nowhere).getPet(1n).catch(text);
      return { petId: String(data.petId), quantity: data.quantity, perMinute: limits.minute.limit, stale, unanswered };
    })()`);
    expect(seen).toEqual({
      petId: '9223372036854775807',
      quantity: 2,
      perMinute: expect.any(Number),
      stale: 'ApiError PRECONDITION_FAILED 1',
      unanswered: 'ConnectionError network 2',
    });
  });
});
