import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { loadSampleStock, sampleStock } from '../../../infra/local/sample-data.ts';
import { MAX_QUANTITY, petStatuses } from '../../../shared/contract/inventory.ts';
import { STORE_ID, StockStore } from '../../../shared/stock-store.ts';
import { EmbeddedDatabase } from '../../support/embedded-database.ts';
import { createStockTable } from '../../support/tables.ts';

describe('the sample stock', () => {
  test('is a few dozen pets', () => {
    expect(sampleStock.length).toBeGreaterThanOrEqual(24);
    expect(sampleStock.length).toBeLessThan(100);
  });

  test('has each pet once, in ascending petId', () => {
    const petIds = sampleStock.map(({ petId }) => Number(petId));

    expect(new Set(petIds).size).toBe(petIds.length);
    expect(petIds).toEqual(petIds.toSorted((a, b) => a - b));
  });

  test.each(petStatuses)('has several pets that are %s', (status) => {
    expect(sampleStock.filter((entry) => entry.status === status).length).toBeGreaterThan(3);
  });

  test('has quantities that the service would take', () => {
    const wrong = sampleStock.filter(
      ({ quantity }) => !Number.isInteger(quantity) || quantity < 0 || quantity > MAX_QUANTITY,
    );

    expect(wrong).toEqual([]);
  });

  test('has none left of what is sold', () => {
    expect(sampleStock.filter(({ status, quantity }) => status === 'sold' && quantity > 0)).toEqual([]);
  });

  test('has a pet with number 101, as the examples in the docs do', () => {
    expect(sampleStock[0]).toEqual({ petId: '101', quantity: 4, status: 'available' });
  });
});

describe('loading the sample stock', () => {
  const database = new EmbeddedDatabase();
  let tableName = '';
  let store: StockStore;

  beforeEach(async () => {
    tableName = await createStockTable(database.client);
    store = new StockStore(database.client, tableName);
  });

  const list = async () => (await Array.fromAsync(store.pages())).flat();

  test('fills an empty store', async () => {
    await loadSampleStock(database.client, tableName);

    expect(await list()).toEqual(sampleStock);
  });

  test('again leaves what was changed', async () => {
    await loadSampleStock(database.client, tableName);
    const [first] = sampleStock;
    if (first) await store.setQuantity(first.petId, 77);
    await loadSampleStock(database.client, tableName);

    expect((await list())[0]).toEqual({ ...first, quantity: 77 });
  });

  test('leaves a store alone that has any entry', async () => {
    const Item = { storeId: STORE_ID, petId: -1, quantity: 5, status: 'sold' };
    await database.client.send(new PutCommand({ TableName: tableName, Item }));
    await loadSampleStock(database.client, tableName);

    expect(await list()).toEqual([{ petId: '-1', quantity: 5, status: 'sold' }]);
  });

  test('does not mind the entries of another store', async () => {
    const Item = { storeId: 'another', petId: 1, quantity: 5, status: 'sold' };
    await database.client.send(new PutCommand({ TableName: tableName, Item }));
    await loadSampleStock(database.client, tableName);

    expect(await list()).toEqual(sampleStock);
  });
});
