import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeItems } from '../../../infra/write-items.ts';
import { BASE, ORIGIN, Visitor } from './console-visitor.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { anEntry, createPetsTable, StockTable } from '../../support/tables.ts';

describe('the stock page', () => {
  const world = new InProcessTarget();
  const database = new EmbeddedDatabase();
  let stock: StockTable;
  let visitor: Visitor;

  beforeAll(async () => {
    stock = await StockTable.create(database.client);
    const few = [anEntry(3, 10, 'sold'), anEntry(20, 11, 'sold'), anEntry(100, 2, 'pending')];
    await stock.putAll([...few, ...Array.from({ length: 60 }, (_, index) => anEntry(200 + index, 500 + index))]);
    const pets = await createPetsTable(database.client);
    await writeItems(database.client, pets, [{ petId: 3n, name: 'Rex' }], (item) => item);
    const tables = { ...world.target.tables, stock: stock.name, pets };
    visitor = await new Visitor({ ...world.target, documents: database.client, tables }).letIn();
  });
  afterAll(() => world.close());

  test.each([
    ['', ['3:10', '20:11', '100:2', '200:500'], 'after=246'],
    ['after=246', ['247:547'], undefined],
    ['status=sold', ['3:10', '20:11'], undefined],
    ['petId=+20+', ['20:11'], undefined],
    ['petId=dog', [], undefined],
    ['status=__proto__&after=x', ['3:10'], 'after=246'],
  ])('shows the entries of the query %j', async (query, first, next) => {
    const page = await visitor.page(`/stock?${query}`);
    const rows = [...page.matchAll(/<tr><td>.*?>(\d+)<\/a><\/td><td class="number">(\d+)<\/td>/g)].map(
      ([, id, count]) => `${id}:${count}`,
    );

    expect(rows.slice(0, first.length)).toEqual(first);
    expect(rows.length > 0).toBe(first.length > 0);
    expect(/stock\?status=\w*&amp;(after=\d+)"/.exec(page)?.[1]).toBe(next);
  });

  test('shows pet names; reloading the address of a form redirects to it', async () => {
    expect(await visitor.page('/stock')).toContain(
      '>3</a></td><td class="number">10</td><td>sold</td><td>Rex</td></tr>',
    );
    for (const form of ['import', 'set'])
      expect((await visitor.get(`/stock/${form}`)).headers.get('Location')).toBe(`${BASE}/stock`);
  });

  test('sets a quantity only if it is still the one shown', async () => {
    const set = (quantity: string) => visitor.post('/stock/set', { petId: '100', quantity, ifQuantity: '2' });
    expect(await visitor.page('/stock?petId=100')).toMatch(/id="set-quantity"[^>]* value="2"/);
    expect(await (await set('-1')).text()).toMatch(/must be an integer from 0 to 2,147,483,647, not -1\..*value="-1"/s);

    const done = await visitor.follow(set('1,000'));
    expect(done).toMatch(/The quantity of pet 100 is 1,000 now\..*<td class="number">1,000</s);
    expect(await (await set('3')).text()).toContain('Pet 100 has 1000 in stock, not 2 as in ifQuantity.');
    await stock.putAll([anEntry(100, 2, 'pending')]);
  });

  test('imports a file after a preview, and skips rows that changed meanwhile', async () => {
    const importRows = async (...rows: string[]) => {
      const form = new FormData();
      form.set('file', new File(['petId,quantity,status\n', ...rows], 'stock.csv'));
      const init = { method: 'POST', body: form };
      return (await visitor.request(`${BASE}/stock/import`, { Origin: ORIGIN }, init)).text();
    };
    const wrong = await importRows('3,1,sold\n', '20,-1,sold\n');

    expect(wrong).toContain('stock.csv:3: quantity must be an integer from 0 to 2147483647, not -1');
    // All rows together would take half a minute.
    expect(await importRows('x\n'.repeat(500_000))).toContain('Stopped after 20 invalid rows. Nothing was written.');
    expect(await visitor.page('/stock?petId=3')).toContain('<td class="number">10</td>');

    const shown = await importRows('1,5,sold\n', '3,1,sold\n', '20,4,pending\n', '100,2,pending\n');
    expect(shown).toContain('1 new, 2 changed, 1 the same.');
    expect(shown).toMatch(/<li>petId 3: quantity 10 → 1<\/li><li>petId 20: quantity 11 → 4, status sold → pending</);
    expect(await visitor.page('/stock?petId=3')).toContain('<td class="number">10</td>');
    await stock.putAll([anEntry(3, 9, 'sold')]);
    const [, confirmed = ''] = /name="confirmed" value="(.*?)"/.exec(shown) ?? [];
    const done = await (await visitor.post('/stock/import', { confirmed })).text();
    expect(done).toMatch(
      /Imported 2 stock entries .*1 new, 1 changed.*<li>3 was changed during the import and is not written</,
    );
    expect(await visitor.page('/stock?petId=3')).toContain('<td class="number">9</td>');
    expect(await (await visitor.post('/stock/import', { confirmed })).text()).toContain('Choose the file again');
  });
});
