import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { clientOver } from '../../model/virtual-tables.ts';
import { BASE, ORIGIN, Visitor } from '../../support/console-visitor.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { anEntry, StockTable } from '../../support/tables.ts';

const world = new InProcessTarget();
afterAll(() => world.close());

const visitorOf = (documents: DynamoDBDocumentClient, stock: string): Promise<Visitor> =>
  new Visitor({
    ...world.target,
    documents,
    stock: new StockStore(documents, stock),
    tables: { ...world.target.tables, stock },
  }).letIn();

/** The rows of a page, as `petId:quantity`, and what it says of their number. */
async function shown(visitor: Visitor, query: string) {
  const page = await (await visitor.get(`/stock?${query}`)).text();
  const rows = [...page.matchAll(/<input type="text" id="pet-(\d+)-quantity"[^>]* value="(\d+)"/g)];
  const [, count] = /aria-live="polite">(.*)<\/p>/.exec(page) ?? [];
  return { rows: rows.map(([, petId, quantity]) => `${petId}:${quantity}`), count, page };
}

describe('The table of the stock', () => {
  const database = new EmbeddedDatabase();
  let stock: StockTable;
  let visitor: Visitor;

  beforeAll(async () => {
    stock = await StockTable.create(database.client);
    const few = [anEntry(3, 10, 'sold'), anEntry(20, 11, 'sold'), anEntry(100, 2, 'pending')];
    await stock.putAll([...few, ...Array.from({ length: 60 }, (_, index) => anEntry(200 + index, 500 + index))]);
    visitor = await visitorOf(database.client, stock.name);
  });

  test.each([
    ['', '63 pets', ['3:10', '20:11', '100:2', '200:500']],
    ['order=down', '63 pets', ['259:559']],
    ['sort=quantity', '63 pets', ['100:2', '3:10', '20:11', '200:500']],
    ['sort=quantity&order=down&page=2', '63 pets', ['209:509', '208:508']],
    ['status=sold', '2 of 63 pets', ['3:10', '20:11']],
    ['quantity=low', '2 of 63 pets', ['3:10', '100:2']],
    ['quantity=low&status=sold', '1 of 63 pets', ['3:10']],
    ['petId=+20+', '1 pet', ['20:11']],
    ['petId=21', '0 pets', []],
    ['petId=dog', '0 pets', []],
    ['after=257', '2 pets', ['258:558', '259:559']],
    ['sort=__proto__&page=Infinity&after=x', '63 pets', ['247:547']],
  ])('shows the pets of %s', async (query, count, first) => {
    const page = await shown(visitor, query);

    expect([page.count, page.rows.slice(0, Math.max(1, first.length))]).toEqual([count, first]);
  });

  test('has a row that must be corrected set only the version that it was shown with', async () => {
    await stock.put(anEntry(100, 2, 'pending'), { version: 'shown' });
    const ticket = await visitor.ticket('/stock');
    await stock.put(anEntry(100, 30, 'pending'), { version: 'later' });
    const sent = { petId: '100', quantity: 'two', status: 'sold', version: 'shown', view: 'petId=100', ticket };

    expect(await (await visitor.post('/stock', sent)).text()).toContain('name="version" value="shown"');
  });

  test('refuses a file of nothing but wrong rows without reading it to its end', async () => {
    const form = new FormData();
    form.set('ticket', await visitor.ticket('/stock', '/stock/import'));
    // All rows at once would take half a minute.
    form.set('file', new File(['petId,quantity,status\n', 'x\n'.repeat(500_000)], 'stock.csv'));
    const answer = await visitor.request(`${BASE}/stock/import`, { Origin: ORIGIN }, { method: 'POST', body: form });

    expect(await answer.text()).toContain('After 20 wrong rows the file was not read further. Nothing was written.');
  });
});

test('Of more pets than are read at once, it says which it has, and leads to the next', async () => {
  // So many take seconds to write: each read finds as many as it asks for.
  let read = 0;
  const documents = clientOver((command, { Limit }) => {
    const ids = Array.from({ length: command === 'QueryCommand' ? Number(Limit) : 0 }, () => String((read += 1)));
    const items = ids.map((N) => ({ petId: { N }, quantity: { N: '50' }, status: { S: 'sold' } }));
    return Promise.resolve({ Items: items, LastEvaluatedKey: { petId: { value: String(read) } } });
  });
  const { count, page } = await shown(await visitorOf(documents, 'stock'), 'status=sold');

  expect(count).toBe('20,000 pets');
  expect(page).toContain('these 20,000 alone, up to 20000.');
  expect(page).toContain('href="stock?status=sold&amp;page=1&amp;after=20000&amp;done="');
  expect(read).toBe(21_000);
});
