import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { orderItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { type Order, orderStatuses, orderToJson } from '../../shared/contract/orders.ts';
import { type InventoryItem, inventoryItemToJson, petStatuses } from '../../shared/contract/inventory.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { int64 } from '../support/int64.ts';
import { aProxyEvent, streamedAnswer } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';
import { anEntry, createOrdersTable, StockTable } from '../support/tables.ts';

const database = new EmbeddedDatabase();
const lines = recordRequestLines();

const COUNT = 1_300;

const entries = Array.from({ length: COUNT }, (_, index) =>
  anEntry(BigInt(index - 5).toString(), index, petStatuses[index % 3]),
);
const orders = Array.from({ length: COUNT }, (_, index): Order => ({
  id: int64(String(index - 5)),
  petId: int64('42'),
  quantity: index,
  shipDate: '2026-11-21T12:30:00Z',
  status: orderStatuses[index % 3] ?? 'placed',
  complete: index % 2 === 0,
}));

let handlers: Record<'inventory' | 'orders', object>;

beforeAll(async () => {
  const stock = await StockTable.create(database.client);
  const ordersTable = await createOrdersTable(database.client);
  await stock.putAll(entries.toReversed());
  await writeItems(database.client, ordersTable, orders.toReversed(), orderItem);
  Object.assign(process.env, { STOCK_TABLE: stock.name, ORDERS_TABLE: ordersTable });
  const { handler: inventory } = await import('../../functions/list-inventory.ts');
  const { handler: ofOrders } = await import('../../functions/list-orders.ts');
  handlers = { inventory, orders: ofOrders };
});

afterEach(() => {
  jest.restoreAllMocks();
});

const jsonOf = {
  inventory: entries.map((entry: InventoryItem) => ({ status: entry.status, json: inventoryItemToJson(entry) })),
  orders: orders.map((order) => ({ status: order.status, json: orderToJson(order) })),
};

describe.each([
  ['GET /inventory', 'inventory', 'sold', 'listInventory', '/inventory'],
  ['GET /store/orders', 'orders', 'delivered', 'listOrders', '/store/orders'],
] as const)('%s', (_, name, status, operation, resource) => {
  const list = (query = '') => streamedAnswer(handlers[name], aProxyEvent({ query, resource }));
  const all = jsonOf[name].map(({ json }) => json);
  const some = jsonOf[name].filter((one) => one.status === status).map(({ json }) => json);

  /** What a client gets that follows the links. */
  async function follow(query: string): Promise<string[]> {
    const texts: string[] = [];
    let next: string | undefined = query;
    while (next !== undefined) {
      const { text, headers } = await list(next);
      texts.push(text.slice(1, -1));
      next = /\?(.*)>; rel="next"/.exec(headers.Link ?? '')?.[1];
    }
    return texts;
  }

  test('lists all entries, over several pages of the table, in ascending id, and logs one line', async () => {
    const answer = await list();

    expect(answer.chunks.length).toBeGreaterThan(1);
    expect(answer.text === `[${all.join(',')}]`).toBe(true);
    expect(lines()).toMatchObject([{ operation, status: '200' }]);
  });

  test('lists those with a status page by page, no entry twice and none left out', async () => {
    const pages = await follow(`status=${status}&limit=200`);

    expect(pages.length).toBeGreaterThan(2);
    expect(pages.join(',') === some.join(',')).toBe(true);
  });

  test('takes no cursor of the other list', async () => {
    const { headers } = await streamedAnswer(
      handlers[name === 'orders' ? 'inventory' : 'orders'],
      aProxyEvent({ query: 'limit=1' }),
    );
    const [, cursor = ''] = /cursor=([\w-]+)/.exec(headers.Link ?? '') ?? [];

    expect(cursor).not.toBe('');
    expect(await list(`cursor=${cursor}`)).toMatchObject({
      statusCode: 400,
      text: expect.stringContaining('"code":"INVALID_CURSOR"'),
    });
  });
});

test('GET /store/orders is marked beta, GET /inventory is not marked (spec §9, rule 2)', async () => {
  expect((await streamedAnswer(handlers.orders, aProxyEvent())).headers).toMatchObject({ 'X-API-Stability': 'beta' });
  expect((await streamedAnswer(handlers.inventory, aProxyEvent())).headers).not.toHaveProperty('X-API-Stability');
});
