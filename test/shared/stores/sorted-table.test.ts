import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Int64 } from '../../../shared/contract/int64.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import {
  MOST_READ_FOR_PAGE,
  type Selection,
  type SortedTable,
  stockList,
} from '../../../shared/stores/sorted-table.ts';
import { describeOnEachEngine, patientClient } from '../../support/engines.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { anEntry, StockTable } from '../../support/tables.ts';

describeOnEachEngine('A page of a sorted table', () => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let table: SortedTable<InventoryItem>;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    stock = await StockTable.create(client);
    table = stockList(client, stock.name);
  });

  const put = (...petIds: (string | number)[]) => stock.putAll(petIds.map((petId) => anEntry(petId)));

  /** Of every so many entries, the first is sold. */
  const putSold = (count: number, every: number) =>
    stock.putAll(Array.from({ length: count }, (_, petId) => anEntry(petId, 1, petId % every ? 'available' : 'sold')));

  async function page(limit: number, after?: string, status?: string): Promise<[string[], Int64 | undefined]> {
    const selection: Selection = { status, after: after === undefined ? undefined : int64(after) };
    const { entries, last } = await table.page(selection, limit);
    return [entries.map(({ petId }) => petId), last];
  }

  describe('has', () => {
    test('as many entries as are asked for, and tells where the next begins', async () => {
      await put(3, 1, 4, 2);

      expect(await page(3)).toEqual([['1', '2', '3'], '3']);
      expect(await page(3, '3')).toEqual([['4'], undefined]);
    });

    test.each([2, 4])(
      'no page after it that is empty, where it ends with the last entry: %d at a time',
      async (limit) => {
        await put(1, 2, 3, 4);

        expect(await walk(limit)).toHaveLength(4 / limit);
      },
    );

    test('as many as are asked for, though DynamoDB reads no further than 1 MB at once', async () => {
      for (const petId of [1, 2, 3, 4, 5]) await stock.put(anEntry(petId), { note: 'x'.repeat(300_000) });

      expect(await page(4)).toEqual([['1', '2', '3', '4'], '4']);
      expect(await page(5)).toEqual([['1', '2', '3', '4', '5'], undefined]);
    });
  });

  describe('is in the order of int64', () => {
    const ascending = [
      MIN_INT64,
      '-9007199254740993',
      '-10',
      '-9',
      '-1',
      '0',
      '9',
      '10',
      '9007199254740993',
      MAX_INT64,
    ];

    test('one entry at a time, among those with a status', async () => {
      await put(...ascending.toReversed());
      await stock.put(anEntry(1, 1, 'sold'));

      expect((await walk(1, 'available')).flat()).toEqual(ascending);
    });
  });

  describe('is stable under writes:', () => {
    test.each<[string, () => Promise<void>, string[]]>([
      ['an entry put in right after it', () => put(31), ['31', '40', '50']],
      ['the entry at the place deleted', () => stock.delete('30'), ['40', '50', '60']],
    ])('%s', async (_, write, expected) => {
      await put(10, 20, 30, 40, 50, 60);
      const [first, last] = await page(3, undefined, 'available');
      await write();

      expect(first).toEqual(['10', '20', '30']);
      expect((await page(3, last, 'available'))[0]).toEqual(expected);
    });
  });

  describe('with a status', () => {
    test('has all entries with it on the way', async () => {
      await putSold(120, 3);

      expect((await walk(7, 'sold')).flat()).toEqual(Array.from({ length: 40 }, (_, index) => String(index * 3)));
    });

    test('reads a bounded number of items, and leads on from there', async () => {
      await putSold(MOST_READ_FOR_PAGE + 200, MOST_READ_FOR_PAGE + 100);
      const watched = patientClient();
      const calls = recordCalls(watched);
      const { entries, last } = await stockList(watched, stock.name).page({ status: 'sold' }, 5);
      const read = calls.map(({ scanned }) => scanned ?? 0);

      expect([entries.map(({ petId }) => petId), last]).toEqual([['0'], String(MOST_READ_FOR_PAGE - 1)]);
      expect(read.reduce((sum, count) => sum + count)).toBe(MOST_READ_FOR_PAGE);
      expect(await page(5, last, 'sold')).toEqual([[String(MOST_READ_FOR_PAGE + 100)], undefined]);
    });
  });

  describe('of the whole list', () => {
    test('begins with few entries, so that a client soon has something, and are read only as they are wanted', async () => {
      await put(...Array.from({ length: 3_100 }, (_, index) => index));
      const watched = patientClient();
      const calls = recordCalls(watched);
      const parts = stockList(watched, stock.name).all();
      const first = await parts.next();

      expect(calls).toHaveLength(1);
      expect(first.value).toHaveLength(1_000);
      expect((await Array.fromAsync(parts)).map(({ length }) => length)).toEqual([2_000, 100]);
    });
  });

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
});
