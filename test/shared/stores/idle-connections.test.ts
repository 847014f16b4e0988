import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import type { StockStore, StockVersion } from '../../../shared/stores/stock-store.ts';
import type { FaultyEngine } from '../../support/faulty-engine.ts';
import { isWrite, openFaultyStock } from './faulty-stock.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry, type StockTable } from '../../support/tables.ts';

const petId = int64('42');

/** More than a connection may be idle. */
const IDLE_MS = 21_000;

describe('A change of the stock after a pause in which DynamoDB has closed the connection', () => {
  let engine: FaultyEngine;
  let stock: StockTable;
  let store: StockStore;
  let idempotent: IdempotentChanges;

  beforeAll(async () => {
    ({ engine, stock, store, idempotent } = await openFaultyStock());
  });

  afterAll(() => engine.stop());

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const changes: readonly [string, (versions: string[]) => Promise<StockVersion>][] = [
    ['an update', () => store.change({ petId, quantity: 1 })],
    ['an update of a version', (versions) => store.change({ petId, quantity: 1, versions })],
    ['an adjustment', () => store.change({ petId, by: 1 })],
    ['an adjustment of a version', (versions) => store.change({ petId, by: 1, versions })],
    [
      'an update with an Idempotency-Key',
      () => idempotent.applyIdempotently({ requestId: randomUUID(), fingerprint: 'f' }, { petId, quantity: 1 }),
    ],
  ];

  test.each(changes)('is done, once: %s', async (name, change) => {
    await stock.put(anEntry(42, 0), { version: 'v0' });
    let now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    engine.calls.length = 0;
    let version = 'v0';
    for (let count = 1; count <= 20; count++) {
      ({ version } = await change([version]));
      engine.dropConnections();
      now += IDLE_MS;
    }

    expect(engine.actions.filter(isWrite)).toHaveLength(20);
    expect(await stock.read('42')).toMatchObject({ quantity: name.includes('adjustment') ? 20 : 1 });
  });
});
