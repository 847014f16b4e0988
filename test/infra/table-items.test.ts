import { beforeEach, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { orderItem, petItem, stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { inventoryItemSchema } from '../../shared/contract/inventory.ts';
import { orderSchema } from '../../shared/contract/orders.ts';
import { petRecordSchema } from '../../shared/contract/pets.ts';
import { orderList } from '../../shared/stores/order-list.ts';
import { findPet } from '../../shared/stores/find-pet.ts';
import { StockStore } from '../../shared/stores/stock-store.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { createOrdersTable, createPetsTable, createStockTable } from '../support/tables.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

const database = new EmbeddedDatabase();

describe('the item of a pet', () => {
  test.each([
    ['with all fields', { category: { id: LARGEST, name: 'dogs' }, tags: [{ id: SMALLEST, name: 'Größe 🐶' }] }],
    ['with the fields that it must have', {}],
    ['with empty lists', { photoUrls: [], tags: [] }],
  ])('%s is read back as it was', async (_, fields) => {
    const tableName = await createPetsTable(database.client);
    const photoUrls = ['https://images.example.com/1.jpg', 'https://images.example.com/2.jpg'];
    const pet = v.parse(petRecordSchema, { id: LARGEST, name: 'Rex', photoUrls, ...fields });
    await writeItems(database.client, tableName, [pet], petItem);

    expect(await findPet(database.client, tableName, pet.id)).toStrictEqual(pet);
  });
});

describe('the item of an order', () => {
  test.each([
    ['with all fields', { shipDate: '2026-11-21T12:30:00.123+02:00', complete: true, status: 'delivered' }],
    ['with the fields that it must have', { complete: false, status: 'placed' }],
  ])('%s is read back as it was', async (_, fields) => {
    const tableName = await createOrdersTable(database.client);
    const order = v.parse(orderSchema, { id: SMALLEST, petId: LARGEST, quantity: 2_147_483_647, ...fields });
    await writeItems(database.client, tableName, [order], orderItem);

    const pages = await Array.fromAsync(orderList(database.client, tableName).all());
    expect(pages.flat()).toStrictEqual([order]);
  });
});

describe('the item of a stock entry', () => {
  const entry = v.parse(inventoryItemSchema, { petId: LARGEST, quantity: 5, status: 'pending' });
  let store: StockStore;
  let tableName: string;

  beforeEach(async () => {
    tableName = await createStockTable(database.client);
    store = new StockStore(database.client, tableName);
  });

  const write = () => writeItems(database.client, tableName, [entry], stockItem);

  test('is read back as it was', async () => {
    await write();

    expect(await store.find(entry.petId)).toMatchObject({ entry });
  });

  test('has a version that the entry never had', () => {
    const versions = [stockItem(entry), stockItem(entry)].map(({ version }) => version);

    expect(versions).toEqual([expect.stringMatching(/^[\w-]{12}$/), expect.stringMatching(/^[\w-]{12}$/)]);
    expect(new Set(versions).size).toBe(2);
  });
});
