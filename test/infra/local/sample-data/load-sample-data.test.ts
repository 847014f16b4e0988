import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { loadSampleData, type SampledTables } from '../../../../infra/local/sample-data/load-sample-data.ts';
import { sampleOrders } from '../../../../infra/local/sample-data/orders.ts';
import { samplePets, sampleStock } from '../../../../infra/local/sample-data/shelves.ts';
import { orderList } from '../../../../shared/stores/order-list.ts';
import { PetStore } from '../../../../shared/stores/pet-store.ts';
import { STORE_ID } from '../../../../shared/stores/sorted-table.ts';
import { stockList } from '../../../../shared/stores/stock-list.ts';
import { StockStore } from '../../../../shared/stores/stock-store.ts';
import { EmbeddedDatabase } from '../../../support/embedded-database.ts';
import { createOrdersTable, createPetsTable, createStockTable } from '../../../support/tables.ts';

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
