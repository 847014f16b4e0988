import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { findPet, petItem } from '../../../shared/stores/find-pet.ts';
import { orderItem, orderList } from '../../../shared/stores/order-list.ts';
import { writeItems } from '../../../infra/local/write-items.ts';
import type { Int64 } from '../../../shared/contract/int64.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import type { Order } from '../../../shared/contract/orders.ts';
import type { PetRecord } from '../../../shared/contract/pets.ts';
import { MAX_READ_FOR_PAGE, type SortedTable, stockList } from '../../../shared/stores/sorted-table.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine, testClient } from '../../support/engines.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { recordCalls } from '../recorded-calls.ts';
import { anEntry, createOrdersTable, createPetsTable, StockTable } from '../../support/tables.ts';

const ASCENDING = [MIN_INT64, '-9007199254740993', '-10', '-9', '-1', '0', '9', '10', '9007199254740993', MAX_INT64];

/** What makes three entries more than the 1 MB that DynamoDB reads at once. */
const LARGE = { note: 'x'.repeat(350_000) };

describeOnEachEngine('the stock as a sorted table', (newClient) => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let table: SortedTable<InventoryItem>;

  beforeAll(() => {
    client = testClient();
  });

  beforeEach(async () => {
    stock = await StockTable.create(client);
    table = stockList(newClient(), stock.name);
  });

  const put = (...petIds: readonly (string | number)[]) => stock.putAll(petIds.map((petId) => anEntry(petId)));
  const all = async (status?: string) => (await Array.fromAsync(table.all(status))).flat();

  async function page(limit: number, after?: string, status?: string): Promise<[string[], Int64 | undefined]> {
    const { entries, last } = await table.page(
      { status, after: after === undefined ? undefined : int64(after) },
      limit,
    );
    return [entries.map(({ petId }) => petId), last];
  }

  /** All pages, each after the last id of the one before. */
  async function walk(limit: number, status?: string): Promise<string[][]> {
    const pages: string[][] = [];
    let after: Int64 | undefined;
    do {
      const [ids, last] = await page(limit, after, status);
      pages.push(ids);
      after = last;
    } while (after !== undefined);
    return pages;
  }

  test('returns the current entries by id in ascending order, without missing ones', async () => {
    await put(...ASCENDING);
    const asked = ['9', '8', MAX_INT64, '-10', MIN_INT64].map(int64);

    expect((await table.byIds(asked)).map(({ petId }) => petId)).toEqual([MIN_INT64, '-10', '9', MAX_INT64]);
    expect(await table.byIds([int64('8')])).toEqual([]);
  });

  test('retries keys that DynamoDB leaves unprocessed', async () => {
    const large = Array.from({ length: 60 }, (_, index) => index);
    // One after the other: DynamoDB Local fails a write that waits ten seconds for those before it.
    for (const petId of large) await stock.put(anEntry(petId), LARGE);

    expect((await table.byIds(large.map((id) => int64(String(id))))).length).toBe(60);
  });

  test('reports an unreadable entry in every kind of list', async () => {
    await put(1, 3);
    await stock.put(anEntry(2), { status: 'reserved' });
    const failure = unreadable('petId 2 cannot be read: status is "reserved": must be one of available, pending, sold');

    for (const list of [() => all(), () => page(3), () => table.byIds([int64('2')])])
      await expect(list()).rejects.toMatchObject(failure);
  });

  test('lists in int64 order with every digit, complete or by status', async () => {
    await put(...ASCENDING.toReversed());
    const sold = anEntry(1, 1, 'sold');
    await stock.put(sold, { color: 'red', version: 'v1' });

    // The entry, and nothing else.
    expect(await all('sold')).toEqual([sold]);

    expect((await all('available')).map(({ petId }) => petId)).toEqual(ASCENDING);
    expect((await walk(1, 'available')).flat()).toEqual(ASCENDING);
    expect((await walk(3)).map(({ length }) => length)).toEqual([3, 3, 3, 2]);
  });

  test('lists more than one query can read', async () => {
    for (const petId of [1, 2, 3, 4, 5]) await stock.put(anEntry(petId), LARGE);
    const watched = testClient();
    const calls = recordCalls(watched);
    const parts = stockList(watched, stock.name).all();
    const first = await parts.next();

    // A client soon has something, and the rest is read only as it is wanted.
    expect(calls).toMatchObject([{ input: { Limit: 1_000 } }]);
    const rest = (await Array.fromAsync(parts)).flat();
    expect(calls.slice(1)).toMatchObject(calls.slice(1).map(() => ({ input: { Limit: 2_000 } })));
    expect([...first.value, ...rest].map(({ petId }) => petId)).toEqual(['1', '2', '3', '4', '5']);
  });

  test('continues pages at the same place after concurrent writes', async () => {
    await put(10, 20, 30, 40, 50);
    const [first, last] = await page(3, undefined, 'available');
    await put(31);
    await stock.delete('30');

    expect([first, last]).toEqual([['10', '20', '30'], '30']);
    expect((await page(3, last, 'available'))[0]).toEqual(['31', '40', '50']);
  });

  test('reads a bounded number of items for a page with a status', async () => {
    const last = MAX_READ_FOR_PAGE + 100;
    const statusOf = (petId: number) => (petId % last === 0 ? 'sold' : 'available');
    await stock.putAll(Array.from({ length: last + 1 }, (_, petId) => anEntry(petId, 1, statusOf(petId))));
    const watched = testClient();
    const calls = recordCalls(watched);
    const found = await stockList(watched, stock.name).page({ status: 'sold' }, 5);

    expect(found).toEqual({ entries: [anEntry(0, 1, 'sold')], last: String(MAX_READ_FOR_PAGE - 1) });
    expect(calls).toMatchObject([{ output: { ScannedCount: MAX_READ_FOR_PAGE } }]);
    expect(await page(5, found.last, 'sold')).toEqual([[String(last)], undefined]);
  });

  test('reads with the consistency that docs/guide.md says', async () => {
    const { name } = stock;
    const watched = testClient();
    const [orders, pets] = [await createOrdersTable(client), await createPetsTable(client)];
    const calls = recordCalls(watched);
    const consistency = async (read: () => Promise<unknown>): Promise<string> => {
      const first = calls.length;
      await read();
      const reads = calls.slice(first).map(({ input }) => /ConsistentRead: true/.test(inspect(input, { depth: null })));
      return [...new Set(reads)].map((isStrong) => (isStrong ? 'strong' : 'eventual')).join();
    };
    const [list, id] = [stockList(watched, name), int64('1')];
    const ofLists = await consistency(async () => {
      await Promise.all([Array.fromAsync(list.all()), list.page({}, 1), orderList(watched, orders).page({}, 1)]);
    });
    const ofEntry = await consistency(() => new StockStore(watched, name).find(id));
    const ofPet = await consistency(() => findPet(watched, pets, id));

    const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8');
    const rows = [...guide.matchAll(/^\| (`GET .*?`) +\| ((?:eventual|strong).*?) +\|$/gm)].map(([, ...row]) => row);
    expect(rows).toEqual([
      ['`GET /inventory`, `GET /store/orders`', ofLists],
      ['`GET /inventory?petId=…`', await consistency(() => list.byIds([id]))],
      ['`GET /inventory/{petId}`', ofEntry],
      ['`GET /pets/{petId}`', `${ofPet}; its status: ${ofEntry}`],
    ]);
  });
});

const anOrder = (id: Int64, differences: Partial<Order> = {}): Order => ({
  id,
  petId: id,
  quantity: 2_147_483_647,
  shipDate: '2026-11-21T12:30:00Z',
  status: 'delivered',
  complete: true,
  ...differences,
});

describeOnEachEngine('orders and pets', (newClient) => {
  let client: DynamoDBDocumentClient;
  let reader: DynamoDBDocumentClient;

  beforeAll(() => {
    client = testClient();
    reader = newClient();
  });

  test('are listed in ascending id with all fields', async () => {
    const name = await createOrdersTable(client);
    const orders = ASCENDING.map((id) => anOrder(int64(id)));
    const { shipDate: _, ...unshipped } = anOrder(int64('11'), { status: 'placed', complete: false });
    const all = orders.toSpliced(-2, 0, unshipped);
    await writeItems(client, name, all.toReversed(), orderItem);

    expect((await Array.fromAsync(orderList(reader, name).all())).flat()).toEqual(all);
    expect((await Array.fromAsync(orderList(reader, name).all('placed'))).flat()).toEqual([unshipped]);
  });

  test('are refused if they are unreadable', async () => {
    const [orders, pets] = [await createOrdersTable(client), await createPetsTable(client)];
    const order = { ...orderItem(anOrder(int64('1'))), petId: 1.5 };
    await client.send(new PutCommand({ TableName: orders, Item: order }));
    await client.send(new PutCommand({ TableName: pets, Item: { petId: 42, name: 'Rex' } }));

    await expect(Array.fromAsync(orderList(reader, orders).all())).rejects.toMatchObject(
      unreadable('orderId 1 cannot be read: petId is "1.5": must be an int64'),
    );
    await expect(findPet(reader, pets, int64('42'))).rejects.toMatchObject(
      unreadable('petId 42 cannot be read: photoUrls'),
    );
  });

  test('are found with all fields', async () => {
    const name = await createPetsTable(client);
    const pet: PetRecord = {
      id: int64('9007199254740993'),
      name: 'Rex',
      tags: [{ id: MIN_INT64, name: 'a' }],
      category: { id: int64('7'), name: 'dogs' },
      photoUrls: ['https://example.com/1.jpg'],
    };
    const other = { id: int64('9007199254740992'), name: 'another', photoUrls: [] };
    await writeItems(client, name, [pet, other], petItem);

    expect(await findPet(reader, name, pet.id)).toEqual(pet);
    expect(await findPet(reader, name, other.id)).toEqual(other);
    expect(await findPet(reader, name, MAX_INT64)).toBeUndefined();
  });
});

const unreadable = (message: string) => ({
  code: 'INTERNAL_ERROR',
  cause: { message: expect.stringContaining(message) },
});
