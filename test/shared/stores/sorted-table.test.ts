import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { findPet } from '../../../shared/stores/find-pet.ts';
import { orderList } from '../../../shared/stores/order-list.ts';
import type { Int64 } from '../../../shared/contract/int64.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import { MAX_READ_FOR_PAGE, type SortedTable, stockList } from '../../../shared/stores/sorted-table.ts';
import { STORE_ID, StockStore } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine, recordCalls, testClient } from '../../support/engines.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
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

  /** All pages, of which no list here has twenty, each after the last id of the one before. */
  async function walk(limit: number, status?: string): Promise<string[][]> {
    const pages: string[][] = [];
    for (let after: Int64 | undefined; pages.length < 20;) {
      const [ids, last] = await page(limit, after, status);
      pages.push(ids);
      if (last === undefined) break;
      after = last;
    }
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

  test('reports an unreadable order and an unreadable pet', async () => {
    const [orders, pets] = [await createOrdersTable(client), await createPetsTable(client)];
    await client.send(new PutCommand({ TableName: orders, Item: { storeId: STORE_ID, orderId: 1, petId: 1.5 } }));
    await client.send(new PutCommand({ TableName: pets, Item: { petId: 42, name: 'Rex' } }));

    await expect(orderList(newClient(), orders).page({}, 1)).rejects.toMatchObject(
      unreadable('orderId 1 cannot be read: petId is "1.5": must be an int64'),
    );
    await expect(findPet(newClient(), pets, int64('42'))).rejects.toMatchObject(
      unreadable('petId 42 cannot be read: photoUrls'),
    );
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

const unreadable = (message: string) => ({
  code: 'INTERNAL_ERROR',
  cause: { message: expect.stringContaining(message) },
});
