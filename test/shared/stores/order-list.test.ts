import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { orderItem } from '../../../infra/table-items.ts';
import { writeItems } from '../../../infra/write-items.ts';
import { type Order, orderStatuses } from '../../../shared/contract/orders.ts';
import { orderList } from '../../../shared/stores/order-list.ts';
import type { SortedTable } from '../../../shared/stores/sorted-table.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { patientClient } from '../../support/patient-client.ts';
import { createOrdersTable } from '../../support/tables.ts';

const anOrder = (id: string | number, differences: Partial<Order> = {}): Order => ({
  id: int64(String(id)),
  petId: int64('42'),
  quantity: 1,
  shipDate: '2026-11-21T12:30:00Z',
  status: 'placed',
  complete: false,
  ...differences,
});

describeOnEachEngine('The list of orders', () => {
  let client: DynamoDBDocumentClient;
  let tableName = '';
  let store: SortedTable<Order>;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    tableName = await createOrdersTable(client);
    store = orderList(client, tableName);
  });

  const put = (...orders: Order[]) => writeItems(client, tableName, orders, orderItem);
  const list = async (status?: string) => (await Array.fromAsync(store.all(status))).flat();

  test('lists nothing where there is nothing', async () => {
    expect(await list()).toEqual([]);
    expect(await list('placed')).toEqual([]);
    expect(await store.page({}, 10)).toEqual({ entries: [], last: undefined });
  });

  test('lists all orders in ascending id, with every digit', async () => {
    const ascending = [MIN_INT64, '-10', '-9', '0', '9', '10', '9007199254740993', MAX_INT64];
    await put(...ascending.toReversed().map((id) => anOrder(id, { petId: int64(id) })));

    expect(await list()).toEqual(ascending.map((id) => anOrder(id, { petId: int64(id) })));
    expect(await list('placed')).toEqual(await list());
  });

  test('lists them with all that they are', async () => {
    const order = anOrder(1, { quantity: 2_147_483_647, status: 'delivered', complete: true });
    const { shipDate: _, ...unshipped } = anOrder(2);
    await put(order, unshipped);

    expect(await list()).toEqual([order, unshipped]);
  });

  test.each(orderStatuses)('lists those that are %s', async (status) => {
    const orders = Array.from({ length: 30 }, (_, id) => anOrder(id, { status: orderStatuses[id % 3] ?? 'placed' }));
    await put(...orders);

    expect(await list(status)).toEqual(orders.filter((order) => order.status === status));
  });

  test('gives a page after an id', async () => {
    await put(anOrder(1), anOrder(2, { status: 'approved' }), anOrder(3), anOrder(4));

    expect(await store.page({ after: int64('1') }, 2)).toEqual({
      entries: [anOrder(2, { status: 'approved' }), anOrder(3)],
      last: '3',
    });
    expect(await store.page({ status: 'placed', after: int64('1') }, 2)).toEqual({
      entries: [anOrder(3), anOrder(4)],
      last: undefined,
    });
  });

  test.each([
    ['its status', { status: 'lost' }, 'must be one of placed, approved, delivered'],
    ['its quantity', { quantity: 'many' }, 'Object'],
    ['its petId', { petId: 1.5 }, 'must be an int64'],
  ])('lists nothing at all rather than an order that is broken: %s', async (_, difference, fault) => {
    await client.send(new PutCommand({ TableName: tableName, Item: { ...orderItem(anOrder(1)), ...difference } }));

    await expect(list()).rejects.toThrow(fault);
  });
});
