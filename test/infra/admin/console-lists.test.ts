import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { writeItems } from '../../../infra/local/dynamodb/tables.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { minuteOf } from '../../../shared/keys/verdict.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { KEY_PATTERN } from '../../support/secrets.ts';
import { anEntry, createPetsTable, StockTable } from '../../support/tables.ts';
import { BASE, ConsoleService, NOW, ORIGIN, Visitor } from './admin-service.ts';

const service = new ConsoleService();
const { world } = service;
const page = (path: string) => service.visitor.page(path);

/** The keys in the list. */
async function idsAt(query: string): Promise<(string | undefined)[]> {
  const links = (await page(`/keys?${query}`)).matchAll(/<td><a href="keys\/(\w+)">/g);
  return [...links].map(([, id]) => id);
}
const search = (q: string) => service.visitor.post('/keys', { q, plan: 'free', state: '' });
const usedToday = (dayUsed: number) => ({ currentMinute: minuteOf(NOW), dayUsed });

describe('The overview', () => {
  test('adds up the requests of all keys, and lists the keys that need attention', async () => {
    const refused = { minuteUsed: 2, dayRefused: 3 };
    const soon = NOW + 86_400_000;
    await service.issue('a', { ...usedToday(4), ...refused });
    await service.issue('b', { ...usedToday(950), ...refused });
    await service.issue('c', { expiresAtMs: soon });
    await service.issue('d', { suspendedUntil: soon });
    world.usage = [marshall({ recordId: 'ALL', day: '2026-11-20', used: 20, refused: 5, sample: true })];
    const text = await page('/overview');
    const lists = [...text.matchAll(/aria-label="([^"]+)" tabindex="0"><table>[^]*?<\/table>/g)].map(
      ([table, title = '']) => [title, [...table.matchAll(/href="keys\/(\w)"/g)].map(([, id]) => id)],
    );

    const figures = [...text.matchAll(/<dd>(.+?)<\/dd>/g)].map(([, figure]) => figure);
    expect(figures.slice(0, 4)).toEqual(['954', '4', '6', '2 of 4']);
    expect(Object.fromEntries(lists)).toMatchObject({
      'Above 80 % of a limit': ['b'],
      'Refused today': ['a', 'b'],
      'Expire within 14 days': ['c'],
      'Suspended automatically': ['d'],
    });
    expect(text).not.toContain('Suspended by an admin');
    expect(text).toContain('<title>2026-11-20: 20 admitted, 5 refused</title>');
    expect(text).toContain(': 954 admitted, 6 refused</title>');
    expect(text).toMatch(/Sample data until 2026-11-20\.<[^]*Red background/);
  });
});

describe('The list of keys', () => {
  test('is filtered and paged; an unknown value in its query filters nothing', async () => {
    for (let at = 10; at < 62; at++) await service.issue(`k${at}`);
    await service.issue('pro', { plan: 'pro', enabled: false });
    const { headers } = await service.visitor.post('/keys', { q: 'PRO', plan: '', state: '' });
    const found = headers.get('Location')?.split('?')[1] ?? '';

    expect(found).not.toContain('PRO');
    for (const query of [found, 'plan=pro', 'state=disabled&plan=constructor'])
      expect(await idsAt(query)).toEqual(['pro']);
    expect(await idsAt('page=2')).toEqual(['k60', 'k61', 'pro']);
    expect(await idsAt('page=Infinity')).toEqual(['k60', 'k61', 'pro']);
    for (const query of ['', 'state=__proto__']) expect(await idsAt(query)).toHaveLength(50);
  });

  test('names who suspended a key, and is sorted by the column whose link is opened', async () => {
    const suspendedUntil = Date.parse('2026-11-23');
    await service.issue('a', { suspendedUntil });
    await service.issue('b', usedToday(5));
    await service.issue('c', { suspendedUntil, suspendedByAdmin: true, ...usedToday(9) });

    expect(await page('/keys')).toContain('>suspended automatically until 2026-11-23 00:00 UTC<');
    for (const [sort, ids, order, next] of [
      ['', 'abc', 'ascending', '-name'],
      ['sort=today', 'cba', 'descending', '-today'],
      ['sort=-today', 'abc', 'ascending', 'today'],
      ['sort=state', 'bca', 'ascending', '-state'],
      ['sort=-name', 'cba', 'descending', 'name'],
      ['sort=__proto__', 'abc', undefined, undefined],
    ]) {
      const [, shown, link] = /aria-sort="(\w+)"><a href="keys\?sort=(.*?)"/.exec(await page(`/keys?${sort}`)) ?? [];
      expect([sort, (await idsAt(sort ?? '')).join(''), shown, link]).toEqual([sort, ids, order, next]);
    }
  });
});

describe('The search', () => {
  let token: string;

  beforeEach(async () => {
    [token = ''] = (await (await service.visitor.create('acme')).text()).match(KEY_PATTERN) ?? [];
  });

  test('opens the key of a token, with a note that a reload does not repeat', async () => {
    const { keyId } = await service.record();
    const found = (await search(` ${token} `)).headers.get('Location') ?? '';
    const load = async () => (await service.visitor.request(found)).text();

    expect(found).toMatch(new RegExp(`^${BASE}/keys/${keyId}\\?done=[\\w-]{36}$`));
    expect(await load()).toMatch(/role="status">It belongs to acme .* is valid /);
    expect(await load()).not.toContain('role="status"');
    const byEnd = await service.visitor.follow(search(token.slice(-4)));
    expect(byEnd).toMatch(new RegExp(`name="q"[^>]+value="${token.slice(-4)}"[^]+href="keys/${keyId}"`));
  });

  test('puts no mistyped token into an address or a page', async () => {
    for (const wrong of [token.slice(0, -1), token.slice(5)]) {
      const response = await search(wrong);
      expect(response.status).toBe(422);
      expect(response.headers.get('Location')).toBeNull();
      expect(await response.text()).not.toContain(wrong);
    }
  });
});

describe('The stock page', () => {
  const database = new EmbeddedDatabase();
  let stock: StockTable;
  let visitor: Visitor;

  beforeAll(async () => {
    stock = await StockTable.create(database.client);
    const few = [anEntry(3, 10, 'sold'), anEntry(20, 11, 'sold'), anEntry(100, 2, 'pending')];
    await stock.putAll([...few, ...Array.from({ length: 60 }, (_, index) => anEntry(200 + index, 500 + index))]);
    const pets = await createPetsTable(database.client);
    await writeItems(database.client, pets, [{ petId: 3n, name: 'Rex' }], (item) => item);
    const tables = { ...service.target.tables, stock: stock.name, pets };
    visitor = await new Visitor({ ...service.target, documents: database.client, tables }).signIn();
  });

  test.each([
    ['', ['3:10', '20:11', '100:2', '200:500'], 'after=246'],
    ['after=246', ['247:547'], undefined],
    ['status=sold', ['3:10', '20:11'], undefined],
    ['petId=+20+', ['20:11'], undefined],
    ['petId=20&status=sold', ['20:11'], undefined],
    ['petId=20&status=available', [], undefined],
    ['petId=dog', [], undefined],
    ['status=__proto__&after=x', ['3:10'], 'after=246'],
  ])('is filtered and paged by the query %j', async (query, first, next) => {
    const text = await visitor.page(`/stock?${query}`);
    const rows = [...text.matchAll(/<tr><td>.*?>(\d+)<\/a><\/td><td class="number">(\d+)<\/td>/g)].map(
      ([, id, count]) => `${id}:${count}`,
    );

    expect(rows.slice(0, Math.max(1, first.length))).toEqual(first);
    expect(/stock\?status=\w*&amp;(after=\d+)"/.exec(text)?.[1]).toBe(next);
  });

  test('names its pets', async () => {
    expect(await visitor.page('/stock')).toContain('<td class="number">10</td><td>sold</td><td>Rex</td></tr>');
  });

  test('exports all entries as a file', async () => {
    const response = await visitor.get('/stock/export.csv');

    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="stock.csv"');
    expect(await response.text()).toMatch(/^petId,quantity,status.*\n3,10,sold,*\n(?:.+\n){62}$/);
  });

  const version = async () => /name="version" value="(.*?)"/.exec(await visitor.page('/stock?petId=100'))?.[1] ?? '';

  test.each([
    ['set', { quantity: '1,000', status: 'sold' }, expect.objectContaining({ quantity: 1000, status: 'sold' })],
    ['remove', { confirmed: 'yes' }, undefined],
  ])('changes an entry only while it is as shown: %s', async (form, fields, after) => {
    const send = async (shown: string) =>
      (await visitor.post(`/stock/${form}`, { ...fields, petId: '100', version: shown })).text();
    const shown = await version();
    await stock.put(anEntry(100, 3), { version: 'other' });

    const refused = await send(shown);
    expect(refused).toContain('pet 100 was changed meanwhile. Nothing was written.');
    // What was sent for the earlier version is not offered again.
    expect(refused).toMatch(/id="set-quantity"[^>]* value="3"/);
    await send(await version());
    expect(await stock.read('100')).toEqual(after);
    await stock.putAll([anEntry(100, 2, 'pending')]);
  });

  test('keeps an invalid quantity, with the reason', async () => {
    const sent = { petId: '100', quantity: '-1', status: 'sold', version: await version() };
    expect(await (await visitor.post('/stock/set', sent)).text()).toMatch(
      /must be an integer from 0 to 2,147,483,647, not -1\.[^]*id="set-quantity"[^>]* value="-1"[^]*"sold" selected/,
    );
    const refused = { ...sent, quantity: '1', reason: generateToken() };
    expect(await (await visitor.post('/stock/set', refused)).text()).toContain('It must not contain a token');
    expect(await version()).toBe(sent.version);
  });

  async function importRows(...rows: string[]): Promise<string> {
    const form = new FormData();
    form.set('file', new File(['petId,quantity,status\n', ...rows], 'stock.csv'));
    const init = { method: 'POST', body: form };
    return (await visitor.request(`${BASE}/stock/import`, { Origin: ORIGIN }, init)).text();
  }

  describe('imports a file', () => {
    test('unless a row is invalid, and then names that row', async () => {
      expect(await importRows('3,1,sold\n', '20,-1,sold\n')).toContain(
        'stock.csv:3: quantity must be an integer from 0',
      );
      expect(await stock.read('3')).toMatchObject({ quantity: 10 });
    });

    test('once, after a confirmation, and skips entries that changed in the meantime', async () => {
      const shown = await importRows('1,5,sold\n', '3,1,sold\n', '20,4,pending\n', '100,2,pending\n');
      expect(shown).toContain('1 new, 2 changed, 1 the same.');
      expect(shown).toMatch(/<li>petId 3: quantity 10 → 1<\/li><li>petId 20: quantity 11 → 4, status sold → pending</);
      expect(await stock.read('3')).toMatchObject({ quantity: 10 });

      await stock.putAll([anEntry(3, 9, 'sold')]);
      const [, confirmed = ''] = /name="confirmed" value="(.*?)"/.exec(shown) ?? [];
      const done = await (await visitor.post('/stock/import', { confirmed })).text();
      expect(done).toMatch(
        /Imported 2 stock entries .*1 new, 1 changed.*<li>3 was changed during the import and is not/,
      );
      expect(await stock.read('3')).toMatchObject({ quantity: 9 });
      expect(await (await visitor.post('/stock/import', { confirmed })).text()).toContain('Choose the file again');
    });
  });
});
