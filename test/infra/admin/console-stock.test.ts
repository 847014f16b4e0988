import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BASE, ORIGIN, Visitor } from '../../support/console-visitor.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { anEntry, StockTable } from '../../support/tables.ts';

const world = new InProcessTarget();
afterAll(() => world.close());

describe('The page of the stock', () => {
  const database = new EmbeddedDatabase();
  let visitor: Visitor;

  beforeAll(async () => {
    const stock = await StockTable.create(database.client);
    const few = [anEntry(3, 10, 'sold'), anEntry(20, 11, 'sold'), anEntry(100, 2, 'pending')];
    await stock.putAll([...few, ...Array.from({ length: 60 }, (_, index) => anEntry(200 + index, 500 + index))]);
    visitor = await new Visitor({
      ...world.target,
      documents: database.client,
      tables: { ...world.target.tables, stock: stock.name },
    }).letIn();
  });

  test.each([
    ['', ['3:10', '20:11', '100:2', '200:500'], 'after=246'],
    ['after=246', ['247:547'], undefined],
    ['status=sold', ['3:10', '20:11'], undefined],
    ['petId=+20+', ['20:11'], undefined],
    ['petId=21', [], undefined],
    ['petId=dog', [], undefined],
    ['status=__proto__&after=x', ['3:10'], 'after=246'],
  ])('shows the pets of %j', async (query, first, next) => {
    const page = await (await visitor.get(`/stock?${query}`)).text();
    const rows = [...page.matchAll(/<tr><td>(\d+)<\/td><td>(\d+)<\/td>/g)].map(
      ([, id, quantity]) => `${id}:${quantity}`,
    );

    expect(rows.slice(0, first.length)).toEqual(first);
    expect(rows.length > 0).toBe(first.length > 0);
    expect(/stock\?status=\w*&amp;(after=\d+)"/.exec(page)?.[1]).toBe(next);
  });

  test('refuses a file of nothing but wrong rows without reading it to its end', async () => {
    const form = new FormData();
    // All rows at once would take half a minute.
    form.set('file', new File(['petId,quantity,status\n', 'x\n'.repeat(500_000)], 'stock.csv'));
    const answer = await visitor.request(`${BASE}/stock/import`, { Origin: ORIGIN }, { method: 'POST', body: form });

    expect(await answer.text()).toContain('After 20 wrong rows the file was not read further. Nothing was written.');
  });
});
