import { randomUUID } from 'node:crypto';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../shared/contract/errors.ts';
import { type Int64, isInt64 } from '../../shared/contract/int64.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { documentClient } from '../../shared/dynamodb.ts';
import { STORE_ID, StockStore } from '../../shared/stock-store.ts';
import { describeOnEachEngine, pointSdkAt } from '../support/engines.ts';
import { acceptForeignErrors } from '../support/foreign-errors.ts';
import { freePort } from '../support/listening.ts';
import { patientClient } from '../support/patient-client.ts';
import { createStockTable } from '../support/tables.ts';

acceptForeignErrors();

const MAX = '9223372036854775807';
const MIN = '-9223372036854775808';

function int64(text: string): Int64 {
  if (!isInt64(text)) throw new Error(`${text} is not an int64`);
  return text;
}

const entry = (petId: string, quantity: number, status: InventoryItem['status'] = 'available'): InventoryItem => ({
  petId: int64(petId),
  quantity,
  status,
});

describe('The stock store, where DynamoDB is out of reach', () => {
  let store: StockStore;

  beforeAll(async () => {
    pointSdkAt(await freePort());
    store = new StockStore(documentClient({ maxAttempts: 3, requestTimeout: 1_000 }), 'stock');
  });

  const unavailable = expect.objectContaining({
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
    headers: { 'Retry-After': '1' },
  });

  test('lists nothing and says so', async () => {
    await expect(Array.fromAsync(store.pages())).rejects.toThrow(unavailable);
  });

  test('sets nothing and says so', async () => {
    await expect(store.setQuantity(int64('1'), 1)).rejects.toThrow(unavailable);
  });
});

describeOnEachEngine('The stock store', () => {
  let client: DynamoDBDocumentClient;
  let tableName = '';
  let store: StockStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    tableName = await createStockTable(client);
    store = new StockStore(client, tableName);
  });

  async function put({ petId, ...rest }: InventoryItem, more: Record<string, unknown> = {}): Promise<void> {
    const Item = { storeId: STORE_ID, petId: BigInt(petId), ...rest, ...more };
    await client.send(new PutCommand({ TableName: tableName, Item }));
  }

  const list = async () => (await Array.fromAsync(store.pages())).flat();

  describe('lists', () => {
    test('nothing where there is nothing', async () => {
      expect(await list()).toEqual([]);
    });

    test('all entries in ascending petId, with every digit, whatever the order of their arrival', async () => {
      const ascending = [MIN, '-9007199254740993', '-10', '-9', '0', '9', '10', '9007199254740993', MAX];
      for (const petId of ascending.toReversed()) await put(entry(petId, 1));

      expect((await list()).map(({ petId }) => petId)).toEqual(ascending);
    });

    test('quantity and status of each', async () => {
      const entries = [entry('1', 0, 'sold'), entry('2', 2_147_483_647, 'pending'), entry('3', 7, 'available')];
      for (const one of entries) await put(one);

      expect(await list()).toEqual(entries);
    });

    test('more than one page of DynamoDB, which is 1 MB', async () => {
      const ascending = [MIN, '-1', '1', '2', '3', '4', '5', MAX];
      for (const petId of ascending) await put(entry(petId, 1), { note: 'x'.repeat(300_000) });
      const pages = await Array.fromAsync(store.pages());

      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat().map(({ petId }) => petId)).toEqual(ascending);
    });

    test('no entries of another store', async () => {
      await put(entry('1', 1), { storeId: 'another' });

      expect(await list()).toEqual([]);
    });

    test('nothing at all rather than an entry that is broken', async () => {
      await put(entry('1', 1), { status: 'lost' });

      await expect(list()).rejects.toThrow('available');
    });
  });

  describe('sets a quantity', () => {
    test.each(['42', '-7', '9007199254740993', MAX, MIN])('of pet %s and answers with the entry', async (petId) => {
      await put(entry(petId, 1));

      expect(await store.setQuantity(int64(petId), 12)).toEqual(entry(petId, 12));
      expect(await list()).toEqual([entry(petId, 12)]);
    });

    test.each(['available', 'pending', 'sold'] as const)('and leaves the status %s', async (status) => {
      await put(entry('42', 1, status));

      expect(await store.setQuantity(int64('42'), 0)).toEqual(entry('42', 0, status));
    });

    test('of the one pet and no other', async () => {
      for (const petId of ['41', '42', '43']) await put(entry(petId, 1));
      await store.setQuantity(int64('42'), 9);

      expect(await list()).toEqual([entry('41', 1), entry('42', 9), entry('43', 1)]);
    });

    test('of no pet that it does not know, and creates none', async () => {
      await put(entry('9007199254740992', 1));

      expect(await store.setQuantity(int64('9007199254740993'), 5)).toBeUndefined();
      expect(await list()).toEqual([entry('9007199254740992', 1)]);
    });

    test('for each of many at once, and keeps the one that came last', async () => {
      await put(entry('42', 1, 'pending'));
      const quantities = Array.from({ length: 30 }, (_, index) => 100 + index);
      const answers = await Promise.all(quantities.map((quantity) => store.setQuantity(int64('42'), quantity)));
      const [kept] = await list();

      expect(answers).toEqual(quantities.map((quantity) => entry('42', quantity, 'pending')));
      expect(quantities).toContain(kept?.quantity);
    });
  });

  test('does not call a missing table an outage', async () => {
    const failure: unknown = await new StockStore(client, `missing-${randomUUID()}`)
      .setQuantity(int64('1'), 1)
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({ name: 'ResourceNotFoundException' });
    expect(failure).not.toBeInstanceOf(ServiceError);
  });
});
