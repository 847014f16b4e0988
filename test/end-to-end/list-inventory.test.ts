import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;
const petIds = sampleStock.map(({ petId }) => Number(petId));

const petIdsOf = ({ text }: Answer): number[] =>
  [...text.matchAll(/"petId":(-?\d+)/g)].map(([, petId]) => Number(petId));

/** The target of the link to the next page, below the base address. */
const nextOf = ({ headers }: Answer): string | undefined =>
  /^<\/v1(?<target>[^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.groups?.['target'];

describe('GET /inventory', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  const get = (query: string): Promise<Answer> => api.send('GET', `/inventory${query}`);

  async function walk(query: string): Promise<Answer[]> {
    let page = await get(query);
    const pages = [page];
    for (let next = nextOf(page); next !== undefined; next = nextOf(page)) {
      page = await api.send('GET', next);
      pages.push(page);
    }
    return pages;
  }

  describe('200', () => {
    test('the whole store, each entry with petId, quantity and status and nothing else, without Link', async () => {
      const answer = await api.list();

      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toStrictEqual(
        sampleStock.map(({ petId, quantity, status }) => ({ petId: Number(petId), quantity, status })),
      );
      expect(nextOf(answer)).toBeUndefined();
      expect(answer.headers.get('Vary')).toBe('Accept-Encoding');
    });

    test('to HEAD the same headers without the list, counted like GET', async () => {
      for (const query of ['', '?limit=2']) {
        const [got, head] = [await get(query), await api.send('HEAD', `/inventory${query}`)];
        const names = ['Content-Type', 'Content-Encoding', 'ETag', 'Link', 'Vary', 'Access-Control-Allow-Origin'];

        expect(head).toMatchObject({ status: 200, text: '' });
        expect(names.map((name) => head.headers.get(name))).toEqual(names.map((name) => got.headers.get(name)));
        expect(head.rateLimit.remaining).toBe(got.rateLimit.remaining - 1);
      }
    });

    test('in ascending petId, negative ones first, each with all its digits', async () => {
      const entries = [MAX, 9007199254740993n, 9007199254740992n, 0n, -7n, -70n, MIN];
      await host.putStock(...entries.map((petId) => ({ petId, quantity: 2_147_483_647, status: 'sold' })));
      const { text } = await api.list();
      await Promise.all(entries.map((petId) => host.deleteStock(petId)));

      const listed = [...text.matchAll(/"petId":(-?\d+)/g)].map(([, petId = '']) => BigInt(petId));
      const samples = petIds.map(BigInt);
      expect(listed).toEqual([MIN, -70n, -7n, 0n, ...samples, 9007199254740992n, 9007199254740993n, MAX]);
      expect(text).toContain(`{"petId":${MAX},"quantity":2147483647,"status":"sold"}`);
    });

    test.each([1, 5])('pages of %i, which Link leads through, make up the whole list', async (limit) => {
      const pages = await walk(`?limit=${limit}`);

      expect(pages.flatMap(petIdsOf)).toEqual(petIds);
      expect(new Set(pages.slice(0, -1).map((page) => petIdsOf(page).length))).toEqual(new Set([limit]));
    });

    test('a status: only the entries with it, whole or in pages', async () => {
      const sold = sampleStock.filter(({ status }) => status === 'sold').map(({ petId }) => Number(petId));

      expect(petIdsOf(await get('?status=sold'))).toEqual(sold);
      expect((await walk('?status=sold&limit=2')).flatMap(petIdsOf)).toEqual(sold);
    });

    test('gzip for a client that asks for it', async () => {
      const plain = await api.send('GET', '/inventory', { headers: { 'Accept-Encoding': 'identity' } });
      const zipped = await api.send('GET', '/inventory', { headers: { 'Accept-Encoding': 'gzip' } });

      expect(plain.headers.get('Content-Encoding')).toBeNull();
      expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
      expect(zipped.text).toBe(plain.text);
    });
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=5&limit=5', 'limit'],
    ['page[size]=5', 'page[size]'],
  ])('400 INVALID_QUERY for ?%s, naming %s, and not zipped', async (query, name) => {
    const answer = await api.send('GET', `/inventory?${query}`, { headers: { 'Accept-Encoding': 'gzip' } });

    expect(answer).toMatchObject({
      status: 400,
      error: { code: 'INVALID_QUERY', message: expect.stringContaining(`"${name}"`) },
    });
    expect(answer.headers.get('Content-Encoding')).toBeNull();
  });
});
