import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import type { SortedTable } from '../../../shared/stores/sorted-table.ts';
import { stockList } from '../../../shared/stores/stock-list.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { patientClient } from '../../support/patient-client.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';

describeOnEachEngine('The list of the stock', () => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let store: SortedTable<InventoryItem>;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    stock = await StockTable.create(client);
    store = stockList(client, stock.name);
  });

  const list = async (status?: string) => (await Array.fromAsync(store.all(status))).flat();

  describe('lists', () => {
    test('nothing where there is nothing', async () => {
      expect(await list()).toEqual([]);
      expect(await list('sold')).toEqual([]);
    });

    test('all entries in ascending petId, with every digit, whatever the order of their arrival', async () => {
      const ascending = [MIN_INT64, '-9007199254740993', '-10', '-9', '0', '9', '10', '9007199254740993', MAX_INT64];
      for (const petId of ascending.toReversed()) await stock.put(anEntry(petId));

      expect((await list()).map(({ petId }) => petId)).toEqual(ascending);
    });

    test('petId, quantity and status of each, and nothing else', async () => {
      const entries = [anEntry(1, 0, 'sold'), anEntry(2, 2_147_483_647, 'pending'), anEntry(3, 7, 'available')];
      for (const entry of entries) await stock.put(entry, { version: 'x', note: 'y' });

      expect(await list()).toEqual(entries);
      expect(await list('sold')).toEqual([entries[0]]);
    });

    test('more than one page of DynamoDB, which is 1 MB', async () => {
      const ascending = [MIN_INT64, '-1', '1', '2', '3', '4', '5', MAX_INT64];
      for (const petId of ascending) await stock.put(anEntry(petId), { note: 'x'.repeat(300_000) });
      const pages = await Array.fromAsync(store.all());

      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat().map(({ petId }) => petId)).toEqual(ascending);
      expect((await list('available')).map(({ petId }) => petId)).toEqual(ascending);
    });

    test('no entries of another store', async () => {
      await stock.put(anEntry(1), { storeId: 'another' });

      expect(await list()).toEqual([]);
    });

    test('nothing at all rather than an entry that is broken', async () => {
      await stock.put(anEntry(1), { status: 'lost' });

      await expect(list()).rejects.toThrow('available');
    });

    test('a page after an id', async () => {
      await stock.putAll([1, 2, 3].map((petId) => anEntry(petId)));

      expect(await store.page({ after: int64('1') }, 1)).toEqual({ entries: [anEntry(2)], last: '2' });
      expect(await store.page({ after: int64('2') }, 1)).toEqual({ entries: [anEntry(3)], last: undefined });
    });
  });

  describe('lists by status', () => {
    const statuses = ['available', 'pending', 'sold'] as const;
    const mixed = (count: number) =>
      Array.from({ length: count }, (_, index) => anEntry(index - 3, index, statuses[index % 3]));

    test.each(statuses)('all entries that are %s, in ascending petId', async (status) => {
      await stock.putAll(mixed(20).toReversed());

      expect(await list(status)).toEqual(mixed(20).filter((entry) => entry.status === status));
    });

    test('a page at a time', async () => {
      await stock.putAll(mixed(20));
      const sold = mixed(20).filter(({ status }) => status === 'sold');
      const { entries, last } = await store.page({ status: 'sold' }, 4);

      expect(entries).toEqual(sold.slice(0, 4));
      expect(await store.page({ status: 'sold', after: last }, 4)).toEqual({ entries: sold.slice(4), last: undefined });
    });
  });
});
