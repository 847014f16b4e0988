import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { loadSampleData, type SampledTables } from '../../../infra/local/prepare-data.ts';
import { sampleOrders } from '../../../infra/local/sample-data/orders.ts';
import { samplePets, sampleStock } from '../../../infra/local/sample-data/shelves.ts';
import { orderList } from '../../../shared/stores/order-list.ts';
import { PetStore } from '../../../shared/stores/pet-store.ts';
import { STORE_ID } from '../../../shared/stores/sorted-table.ts';
import { stockList } from '../../../shared/stores/stock-list.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { createOrdersTable, createPetsTable, createStockTable } from '../../support/tables.ts';

const database = new EmbeddedDatabase();
let tables: SampledTables;
let stock: StockStore;

beforeEach(async () => {
  const { client } = database;
  const [stockTable, pets, orders] = await Promise.all([
    createStockTable(client),
    createPetsTable(client),
    createOrdersTable(client),
  ]);
  tables = { stock: stockTable, pets, orders };
  stock = new StockStore(client, stockTable);
});

const load = (): Promise<void> => loadSampleData(database.client, tables);
const listStock = async () => (await Array.fromAsync(stockList(database.client, tables.stock).all())).flat();
const listOrders = async () => (await Array.fromAsync(orderList(database.client, tables.orders).all())).flat();
const findPets = () => {
  const store = new PetStore(database.client, tables.pets);
  return Promise.all(samplePets.map(({ id }) => store.find(id)));
};

describe('loading the sample data', () => {
  test('fills empty tables', async () => {
    await load();

    expect(await listStock()).toEqual(sampleStock);
    expect(await findPets()).toEqual(samplePets);
    expect(await listOrders()).toEqual(sampleOrders);
  });

  test('again leaves what was changed', async () => {
    await load();
    const [first] = sampleStock;
    if (first) await stock.update({ petId: first.petId, quantity: 77 });
    await load();

    expect((await listStock())[0]).toEqual({ ...first, quantity: 77 });
  });

  test('leaves a table alone that has any entry, and fills the others', async () => {
    const { client } = database;
    const Item = { storeId: STORE_ID, petId: -1, quantity: 5, status: 'sold' };
    await client.send(new PutCommand({ TableName: tables.stock, Item }));
    await client.send(new PutCommand({ TableName: tables.pets, Item: { petId: -1, name: 'Rex', photoUrls: [] } }));
    await load();

    expect(await listStock()).toEqual([{ petId: '-1', quantity: 5, status: 'sold' }]);
    expect(await findPets()).toEqual(samplePets.map(() => undefined));
    expect(await listOrders()).toEqual(sampleOrders);
  });
});

const petsThatAre = (status: string) => sampleStock.filter((entry) => entry.status === status);
const ordersOf = (petId: string) => sampleOrders.filter((order) => order.petId === petId);

describe('the sample orders', () => {
  test('are open for every pet that is pending, and not for more than there are', () => {
    for (const { petId, quantity } of petsThatAre('pending')) {
      const open = ordersOf(petId).filter(({ complete }) => !complete);
      const ordered = open.reduce((sum, order) => sum + order.quantity, 0);

      expect(ordered).toBeGreaterThan(0);
      expect(ordered).toBeLessThanOrEqual(quantity);
    }
  });

  test('are delivered for every pet that is sold', () => {
    for (const { petId } of petsThatAre('sold')) {
      expect(ordersOf(petId)).toEqual([expect.objectContaining({ status: 'delivered' })]);
    }
  });
});

describe('the sample stock', () => {
  test('has a pet with number 101, as the examples in the docs do', () => {
    expect(sampleStock[0]).toEqual({ petId: '101', quantity: 4, status: 'available' });
  });
});

describe('the sample pets', () => {
  test('have a name, a category and tags each', () => {
    expect(samplePets[0]).toEqual({
      id: '101',
      category: { id: '1', name: 'dogs' },
      name: 'Labrador Retriever',
      photoUrls: ['https://images.example.com/pets/101.jpg'],
      tags: [
        { id: '1', name: 'family' },
        { id: '2', name: 'large' },
      ],
    });
    expect(samplePets.filter(({ category, tags }) => !category || !tags || tags.length === 0)).toEqual([]);
  });
});
