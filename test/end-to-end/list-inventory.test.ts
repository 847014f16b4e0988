import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleStock } from '../../infra/local/sample-data/shelves.ts';
import { ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;

describe('GET /inventory', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  const listed = async (): Promise<{ petId: number }[]> => JSON.parse((await api.list()).text);

  test('200 lists the whole store, each entry with petId, quantity and status and nothing else', async () => {
    const answer = await api.list();

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toStrictEqual(
      sampleStock.map(({ petId, quantity, status }) => ({ petId: Number(petId), quantity, status })),
    );
  });

  test('the list is in ascending petId, negative ones first', async () => {
    await host.putStock(
      { petId: -7n, quantity: 1, status: 'sold' },
      { petId: 0n, quantity: 1, status: 'sold' },
      { petId: 1_000_000n, quantity: 1, status: 'sold' },
      { petId: -70n, quantity: 1, status: 'sold' },
    );
    const petIds = (await listed()).map(({ petId }) => petId);
    await Promise.all([-7n, 0n, 1_000_000n, -70n].map((petId) => host.deleteStock(petId)));

    expect(petIds).toEqual(petIds.toSorted((a, b) => a - b));
    expect(petIds.slice(0, 3)).toEqual([-70, -7, 0]);
  });

  test('the largest and the smallest int64 keep their digits', async () => {
    await host.putStock(
      { petId: MAX, quantity: 2_147_483_647, status: 'available' },
      { petId: MIN, quantity: 0, status: 'pending' },
    );
    const { text } = await api.list();
    await Promise.all([MAX, MIN].map((petId) => host.deleteStock(petId)));

    expect(text).toMatch(/^\[\{"petId":-9223372036854775808,"quantity":0,"status":"pending"\},/);
    expect(text).toMatch(/,\{"petId":9223372036854775807,"quantity":2147483647,"status":"available"\}\]$/);
  });

  test('pets that a JavaScript number cannot tell apart stay apart', async () => {
    const pets = [9007199254740992n, 9007199254740993n, 9007199254740994n];
    await host.putStock(...pets.map((petId, index) => ({ petId, quantity: index, status: 'sold' })));
    const { text } = await api.list();
    await Promise.all(pets.map((petId) => host.deleteStock(petId)));

    expect(text).toContain(
      '{"petId":9007199254740992,"quantity":0,"status":"sold"},' +
        '{"petId":9007199254740993,"quantity":1,"status":"sold"},' +
        '{"petId":9007199254740994,"quantity":2,"status":"sold"}',
    );
  });

  test.each(['?a=1&a=2&b=', '?a=%E2%82%AC&&=', '?=', '?constructor=1', '?__proto__=1&toString=2', '?Limit=5'])(
    '400 for a query parameter that is not known: %s',
    async (query) => {
      expect(await api.send('GET', `/inventory${query}`)).toMatchObject({
        status: 400,
        error: { code: 'INVALID_QUERY' },
      });
    },
  );

  test('500 where an entry in the table is broken, without telling what it holds', async () => {
    await host.putStock({ petId: 5n, quantity: 1, status: 'eaten by the cat' });
    const answer = await api.list();
    await host.deleteStock(5n);

    expect(answer).toMatchObject({ status: 500, error: { code: 'INTERNAL_ERROR' } });
    expect(answer.text).not.toMatch(/eaten|status must be|at .*\.js/);
    expect(await api.list()).toMatchObject({ status: 200 });
  });

  test('401 without a key', async () => {
    expect(await new ApiClient(host.baseUrl, undefined).list()).toMatchObject({
      status: 401,
      error: { code: 'API_KEY_MISSING' },
    });
  });
});
