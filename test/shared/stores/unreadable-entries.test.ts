import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MAX_QUANTITY } from '../../../shared/contract/inventory.ts';
import type { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import type { StockChange, StockStore, StockVersion } from '../../../shared/stores/stock-store.ts';
import { engines } from '../../support/engines.ts';
import type { FaultyEngine } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry, type StockTable } from '../../support/tables.ts';
import { failWrites, isWrite, openFaultyStock } from './faulty-stock.ts';

acceptForeignErrors();

const petId = int64('42');
const update = { petId, quantity: 12 };
const adjustment = { petId, by: -1 };

/** A newer release, or an edit in the AWS console, has made it so. */
const UNKNOWN_STATUS = { status: 'reserved' };

const failure = (outcome: string, fault = 'status') => ({
  code: 'INTERNAL_ERROR',
  message: expect.stringContaining(`The service failed while processing this request. ${outcome}`),
  cause: { message: expect.stringContaining(`petId 42 cannot be read: ${fault} is `) },
});

describe.each(engines)('An entry that this release cannot read, on %s', (_engine, start) => {
  let engine: FaultyEngine;
  let stock: StockTable;
  let store: StockStore;
  let idempotent: IdempotentChanges;

  beforeAll(async () => {
    ({ engine, stock, store, idempotent } = await openFaultyStock(start));
  });

  afterAll(() => engine.stop());

  beforeEach(async () => {
    engine.faults = () => undefined;
    engine.beforeCall = () => Promise.resolve();
    await put();
  });

  const put = (more: object = {}) => stock.put(anEntry(42, 5), { version: 'v1', ...more });
  const keyed = (change: StockChange, requestId: string = randomUUID()): Promise<StockVersion> =>
    idempotent.applyIdempotently({ requestId, fingerprint: 'f' }, change);

  /** Makes it unreadable before the next call of this kind. */
  const spoilBefore = (isMeant: (action: string) => boolean, calls = 1): void => {
    let left = calls;
    engine.beforeCall = async ({ action }) => {
      if (isMeant(action) && --left === 0) await put(UNKNOWN_STATUS);
    };
  };

  describe.each<[string, StockChange, (change: StockChange) => Promise<StockVersion>]>([
    ['an update', update, (change) => store.change(change)],
    ['an update that names its version', { ...update, versions: ['v1'] }, (change) => store.change(change)],
    ['an adjustment', adjustment, (change) => store.change(change)],
    ['an update with an Idempotency-Key', update, (change) => keyed(change)],
    ['an adjustment with one', adjustment, (change) => keyed(change)],
  ])('is left as it is by %s', (_, change, apply) => {
    test.each<[string, object]>([
      ['status', UNKNOWN_STATUS],
      ['status', { status: 1 }],
      ['status', { status: undefined }],
      ['quantity', { quantity: -1 }],
      ['quantity', { quantity: MAX_QUANTITY + 1 }],
      ['quantity', { quantity: '5' }],
      ['quantity', { quantity: undefined }],
    ])('for its %s: %j', async (field, more) => {
      await put(more);
      const before = await stock.readItem('42');

      await expect(apply(change)).rejects.toMatchObject(failure('Nothing was changed.', field));
      expect(await stock.readItem('42')).toEqual(before);
    });
  });

  test('is left as it is by changes that name no version where it has one of another type', async () => {
    await put({ version: 1 });
    for (const change of [update, adjustment])
      for (const apply of [() => store.change(change), () => keyed(change)])
        await expect(apply()).rejects.toMatchObject(failure('Nothing was changed.', 'version'));
    expect(await stock.readItem('42')).toMatchObject({ quantity: { value: '5' } });
  });

  test('costs no call more where it can be read', async () => {
    engine.calls.length = 0;
    await store.change(adjustment);
    await keyed(update);

    expect(engine.actions).toEqual(['UpdateItem', 'GetItem', 'TransactWriteItems']);
  });

  test('may have been changed where an answer was lost', async () => {
    failWrites(engine, { kind: 'lostAnswer' });
    spoilBefore((action) => action === 'GetItem');

    await expect(store.change(adjustment)).rejects.toMatchObject(
      failure('The change may have been made: read the entry'),
    );
  });

  test.each([
    ['an update', update],
    ['an adjustment', adjustment],
  ])(
    'may have been changed where the first of two attempts of %s with an Idempotency-Key was lost',
    async (_, change) => {
      failWrites(engine, { kind: 'hangUp' });
      spoilBefore(isWrite, 2);

      await expect(keyed(change)).rejects.toMatchObject(
        failure('The change may have been made: send the same request again with the same Idempotency-Key.'),
      );
    },
  );

  test('leaves the answer to a repeated update as it was, and says of an adjustment that it may have been made', async () => {
    const first = await keyed(update, 'repeated update');
    await keyed(adjustment, 'repeated adjustment');
    await put(UNKNOWN_STATUS);

    expect(await keyed(update, 'repeated update')).toEqual(first);
    await expect(keyed(adjustment, 'repeated adjustment')).rejects.toMatchObject(
      failure('The change may have been made'),
    );
    expect(await stock.read('42')).toMatchObject({ quantity: 5, version: 'v1' });
  });

  test('may have been changed where it has a fraction, which no condition of DynamoDB finds', async () => {
    await put({ quantity: 5.5 });
    for (const apply of [() => store.change(adjustment), () => keyed(adjustment)])
      await expect(apply()).rejects.toMatchObject(failure('The change may have been made', 'quantity'));

    expect(await store.change(update)).toMatchObject({ entry: anEntry(42, 12) });
  });
});
