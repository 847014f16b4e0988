import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { documentClient } from '../../../shared/dynamodb.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine, pointSdkAt } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { freePort } from '../../support/listening.ts';
import { patientClient } from '../../support/patient-client.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';

acceptForeignErrors();

describe('The stock store, where DynamoDB is out of reach', () => {
  let store: StockStore;

  beforeAll(async () => {
    pointSdkAt(await freePort());
    store = new StockStore(documentClient({ maxAttempts: 3, requestTimeout: 1_000 }), 'stock');
  });

  test.each<[string, () => Promise<unknown>]>([
    ['lists nothing', () => Array.fromAsync(store.pages())],
    ['lists nothing by status', () => Array.fromAsync(store.pages('sold'))],
    ['gives no page', () => store.page({}, 10)],
    ['finds nothing', () => store.find(int64('1'))],
    ['updates nothing', () => store.update({ petId: int64('1'), quantity: 1, token: 'a' })],
    ['updates no version', () => store.update({ petId: int64('1'), quantity: 1, token: 'a', revisions: [1] })],
  ])('%s and says so', async (_, call) => {
    await expect(call()).rejects.toThrow(
      expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', status: 503, headers: { 'Retry-After': '1' } }),
    );
  });
});

/** A store in whose table something is written after the index was read, and before the entries are. */
function storeBehind(stock: StockTable, write: () => Promise<void>): StockStore {
  const late = patientClient();
  late.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName === 'QueryCommand') await write();
        return answer;
      },
    { step: 'initialize' },
  );
  return new StockStore(late, stock.name);
}

describeOnEachEngine('The stock store', () => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let store: StockStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    stock = await StockTable.create(client);
    store = new StockStore(client, stock.name);
  });

  const list = async (status?: string) => (await Array.fromAsync(store.pages(status))).flat();

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
      for (const entry of entries) await stock.put(entry, { revision: 3, updatedBy: 'x', note: 'y' });

      expect(await list()).toEqual(entries);
      expect(await list('sold')).toEqual([entries[0]]);
    });

    test('more than one page of DynamoDB, which is 1 MB', async () => {
      const ascending = [MIN_INT64, '-1', '1', '2', '3', '4', '5', MAX_INT64];
      for (const petId of ascending) await stock.put(anEntry(petId), { note: 'x'.repeat(300_000) });
      const pages = await Array.fromAsync(store.pages());

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

    test.each([1, 100, 101, 401])('%d entries, of which DynamoDB reads a hundred at a time', async (count) => {
      const entries = Array.from({ length: count }, (_, index) => anEntry(index, index, 'sold'));
      await stock.putAll([...entries, anEntry(-1), anEntry(1_000)]);

      expect(await store.page({ status: 'sold' }, 1_000)).toEqual({ entries, last: undefined });
    });

    test('a page at a time', async () => {
      await stock.putAll(mixed(20));
      const sold = mixed(20).filter(({ status }) => status === 'sold');
      const { entries, last } = await store.page({ status: 'sold' }, 4);

      expect(entries).toEqual(sold.slice(0, 4));
      expect(await store.page({ status: 'sold', after: last }, 4)).toEqual({ entries: sold.slice(4), last: undefined });
    });

    test('without reading what it does not return', async () => {
      await stock.putAll([...mixed(120), anEntry(1_000, 1, 'sold')]);
      const watched = patientClient();
      const calls = recordCalls(watched);
      await new StockStore(watched, stock.name).page({ status: 'sold', after: int64('900') }, 10);

      expect(calls).toMatchObject([
        { command: 'QueryCommand', consumed: { CapacityUnits: 0.5 } },
        { command: 'BatchGetItemCommand', consumed: [{ CapacityUnits: 0.5 }] },
      ]);
    });

    test('no entry that has another status by now, as the index lags behind', async () => {
      await stock.putAll([anEntry(1, 1, 'sold'), anEntry(2, 2, 'sold'), anEntry(3, 3, 'sold')]);
      const behind = storeBehind(stock, () => stock.put(anEntry(2, 2, 'available')));

      expect(await behind.page({ status: 'sold' }, 10)).toMatchObject({
        entries: [anEntry(1, 1, 'sold'), anEntry(3, 3, 'sold')],
      });
    });

    test('no entry that is gone by now', async () => {
      await stock.putAll([anEntry(1, 1, 'sold'), anEntry(2, 2, 'sold')]);
      const behind = storeBehind(stock, () => stock.delete('2'));

      expect(await behind.page({ status: 'sold' }, 10)).toMatchObject({ entries: [anEntry(1, 1, 'sold')] });
    });

    test('on to the next page, though nothing is left of one', async () => {
      await stock.putAll([anEntry(1, 1, 'sold'), anEntry(2, 2, 'sold')]);
      const behind = storeBehind(stock, () => stock.delete('1'));
      const page = await behind.page({ status: 'sold' }, 1);

      expect(page).toEqual({ entries: [], last: '1' });
      expect(await store.page({ status: 'sold', after: page.last }, 1)).toMatchObject({
        entries: [anEntry(2, 2, 'sold')],
      });
    });
  });

  test('finds the entry of a pet with its revision', async () => {
    await stock.put(anEntry(42, 7, 'pending'), { revision: 12, updatedBy: 'x' });

    expect(await store.find(int64('42'))).toEqual({ entry: anEntry(42, 7, 'pending'), revision: 12, updatedBy: 'x' });
    expect(await store.find(int64('43'))).toBeUndefined();
  });

  test('takes an entry that was put in by other means for one of revision 0', async () => {
    await stock.put(anEntry(42));

    expect(await store.find(int64('42'))).toEqual({ entry: anEntry(42), revision: 0, updatedBy: undefined });
  });

  test.each<[string, (missing: StockStore, petId: Int64) => Promise<unknown>]>([
    ['a list', (missing) => missing.page({}, 1)],
    ['an entry', (missing, petId) => missing.find(petId)],
    ['an update', (missing, petId) => missing.update({ petId, quantity: 1, token: 'a' })],
  ])('does not call a missing table an outage: %s', async (_, call) => {
    const missing = new StockStore(client, `missing-${randomUUID()}`);
    const failure: unknown = await call(missing, int64('1')).catch((error: unknown) => error);

    expect(failure).toMatchObject({ name: 'ResourceNotFoundException' });
    expect(failure).not.toBeInstanceOf(ServiceError);
  });
});
