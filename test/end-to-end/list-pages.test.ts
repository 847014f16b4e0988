import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleOrders } from '../../infra/local/sample-data/orders.ts';
import { sampleStock } from '../../infra/local/sample-data/shelves.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

interface Entry {
  readonly [field: string]: unknown;
  readonly status: string;
}

/** The lists, with the field that they are sorted by and what is in them. */
const lists = [
  { path: '/inventory', id: 'petId', all: sampleStock.map(({ petId, status }) => ({ id: Number(petId), status })) },
  { path: '/store/orders', id: 'id', all: sampleOrders.map(({ id, status }) => ({ id: Number(id), status })) },
];

const entriesOf = ({ text }: Answer): Entry[] => JSON.parse(text);

/** The target of the link to the next page, below the base address. */
const nextOf = ({ headers }: Answer): string | undefined =>
  /^<\/v1(?<target>[^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.groups?.target;

describe.each(lists)('GET $path', ({ path, id, all }) => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  const get = (query: string): Promise<Answer> => api.send('GET', `${path}${query}`);
  const idsOf = (answer: Answer): unknown[] => entriesOf(answer).map((entry) => entry[id]);
  async function walk(query: string): Promise<Answer[]> {
    let page = await get(query);
    const pages = [page];
    for (let next = nextOf(page); next !== undefined; next = nextOf(page)) {
      page = await api.send('GET', next);
      pages.push(page);
    }
    return pages;
  }

  const ids = all.map((entry) => entry.id);

  test('without parameters: the whole list, no Link, and no two answers of one address may be mixed up', async () => {
    const answer = await get('');

    expect(idsOf(answer)).toEqual(ids);
    expect(answer.headers.get('Link')).toBeNull();
    expect(answer.headers.get('Vary')).toBe('Accept-Encoding');
  });

  test.each([1, 5, 7, all.length - 1])('pages of %i make up the whole list', async (limit) => {
    const pages = await walk(`?limit=${limit}`);

    expect(pages.flatMap(idsOf)).toEqual(ids);
    expect(pages.slice(0, -1).map((page) => idsOf(page).length)).toEqual(
      Array.from({ length: Math.ceil(ids.length / limit) - 1 }, () => limit),
    );
  });

  test.each([all.length, all.length + 1, 1_000])('a page of %i is all there is: no Link', async (limit) => {
    const answer = await get(`?limit=${limit}`);

    expect(idsOf(answer)).toEqual(ids);
    expect(nextOf(answer)).toBeUndefined();
  });

  test('a status: only the entries with it, in order, whole or in pages', async () => {
    for (const status of new Set(all.map((entry) => entry.status))) {
      const expected = all.filter((entry) => entry.status === status).map((entry) => entry.id);
      expect(idsOf(await get(`?status=${status}`))).toEqual(expected);
      expect((await walk(`?status=${status}&limit=2`)).flatMap(idsOf)).toEqual(expected);
    }
  });

  test('a page says where the next begins, which takes another limit as well', async () => {
    const next = nextOf(await get('?limit=3')) ?? '';
    const cursor = new URLSearchParams(next.split('?')[1]).get('cursor');

    expect(idsOf(await get(`?cursor=${cursor}&limit=2`))).toEqual(ids.slice(3, 5));
    expect(idsOf(await get(`?cursor=${cursor}`))).toEqual(ids.slice(3, 103));
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=', 'limit'],
    ['limit=5&limit=5', 'limit'],
    ['status=', 'status'],
    ['status=gone', 'status'],
    ['status=AVAILABLE', 'status'],
    ['offset=5', 'offset'],
    ['page[size]=5', 'page[size]'],
  ])('400 for ?%s, naming %s', async (query, name) => {
    expect(await get(`?${query}`)).toMatchObject({
      status: 400,
      error: { code: 'INVALID_QUERY', message: expect.stringContaining(`"${name}"`) },
    });
  });

  test.each([
    ['empty', ''],
    ['made up', 'abc'],
    ['too long', 'a'.repeat(1_000)],
    ['of the right length', 'A'.repeat(32)],
  ])('400 for a cursor that is %s', async (_, cursor) => {
    expect(await get(`?cursor=${cursor}`)).toMatchObject({ status: 400, error: { code: 'INVALID_CURSOR' } });
  });

  test('400 for a cursor that was changed, or is of another list or status', async () => {
    const cursor = new URLSearchParams(nextOf(await get('?limit=3'))?.split('?')[1]).get('cursor') ?? '';
    const changed = `${cursor.startsWith('B') ? 'C' : 'B'}${cursor.slice(1)}`;
    const other = lists.find((list) => list.path !== path);

    expect(await get(`?limit=3&cursor=${cursor}`)).toMatchObject({ status: 200 });
    for (const target of [
      `${path}?cursor=${changed}`,
      `${path}?cursor=${cursor}&status=${all[0]?.status}`,
      `${other?.path}?cursor=${cursor}`,
    ]) {
      expect(await api.send('GET', target)).toMatchObject({ status: 400, error: { code: 'INVALID_CURSOR' } });
    }
  });

  test('gzip for a client that asks for it', async () => {
    const plain = await api.send('GET', path, { headers: { 'Accept-Encoding': 'identity' } });
    const zipped = await api.send('GET', path, { headers: { 'Accept-Encoding': 'gzip' } });

    expect(plain.headers.get('Content-Encoding')).toBeNull();
    expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
    expect(zipped.text).toBe(plain.text);
  });

  test('an error is an Error body, not zipped', async () => {
    const answer = await api.send('GET', `${path}?limit=0`, { headers: { 'Accept-Encoding': 'gzip' } });

    expect(answer).toMatchObject({ status: 400, error: { code: 'INVALID_QUERY' } });
    expect(answer.headers.get('Content-Encoding')).toBeNull();
  });
});

describe('GET /inventory in pages, while the store changes', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  test('shows every entry once that is there all the time', async () => {
    const first = await api.send('GET', '/inventory?limit=5');
    const next = /^<\/v1([^>]+)>/.exec(first.headers.get('Link') ?? '')?.[1] ?? '';
    // The entry that the cursor stands at goes, one comes before it and one after.
    await host.deleteStock(105n);
    await host.putStock({ petId: 1n, quantity: 1, status: 'sold' }, { petId: 107n, quantity: 1, status: 'sold' });
    const second = await api.send('GET', next);

    expect(first.text).toContain('"petId":105,');
    expect(second.text).toMatch(
      /^\[\{"petId":106,.*\{"petId":107,.*\{"petId":201,.*\{"petId":202,.*\{"petId":203,.*\}\]$/,
    );
  });
});
