import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { orderItem, petItem } from '../../../infra/table-items.ts';
import { writeItems } from '../../../infra/write-items.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import type { Order } from '../../../shared/contract/orders.ts';
import type { PetRecord } from '../../../shared/contract/pets.ts';
import { orderList, type SortedTable, stockList } from '../../../shared/stores/sorted-table.ts';
import { PetStore } from '../../../shared/stores/pet-store.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { patientClient } from '../../support/engines.ts';
import { anEntry, StockTable } from '../../support/tables.ts';
import { createOrdersTable, createPetsTable } from '../../support/tables.ts';

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

    test('nothing at all rather than an entry that is broken', async () => {
      await stock.put(anEntry(1), { status: 'lost' });

      await expect(list()).rejects.toThrow('available');
    });
  });
});

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

  test.each([
    ['its status', { status: 'lost' }, 'must be one of placed, approved, delivered'],
    ['its petId', { petId: 1.5 }, 'must be an int64'],
  ])('lists nothing at all rather than an order that is broken: %s', async (_, difference, fault) => {
    await client.send(new PutCommand({ TableName: tableName, Item: { ...orderItem(anOrder(1)), ...difference } }));

    await expect(list()).rejects.toThrow(fault);
  });
});

const aPet = (id: string, differences: Partial<PetRecord> = {}): PetRecord => ({
  id: int64(id),
  name: 'Rex',
  photoUrls: [],
  ...differences,
});

describeOnEachEngine('The pet store', () => {
  let client: DynamoDBDocumentClient;
  let tableName = '';
  let store: PetStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    tableName = await createPetsTable(client);
    store = new PetStore(client, tableName);
  });

  const put = (...pets: PetRecord[]) => writeItems(client, tableName, pets, petItem);

  test('finds a pet with all that it is', async () => {
    const tags = [
      { id: int64(MIN_INT64), name: 'a' },
      { id: int64('9007199254740993'), name: 'b' },
    ];
    const pet = aPet('42', {
      tags,
      category: { id: int64('7'), name: 'dogs' },
      photoUrls: ['https://example.com/1.jpg'],
    });
    await put(pet);

    expect(await store.find(int64('42'))).toEqual(pet);
  });

  test.each([MIN_INT64, '9007199254740993', MAX_INT64])('finds pet %s and no other', async (id) => {
    await put(aPet('9007199254740992', { name: 'another' }), aPet(id));

    expect(await store.find(int64(id))).toEqual(aPet(id));
  });

  test('gives no record that is broken', async () => {
    await client.send(new PutCommand({ TableName: tableName, Item: { petId: 42, name: 'Rex' } }));

    await expect(store.find(int64('42'))).rejects.toThrow('photoUrls');
  });
});
