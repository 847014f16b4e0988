import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { inventoryItemSchema, MAX_QUANTITY } from '../../../shared/contract/inventory.ts';
import { type StockChange, stockEntrySchema, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { engines } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry } from '../../support/tables.ts';
import { FaultyStock, isRead, isWrite } from './faulty-stock.ts';

acceptForeignErrors();

const petId = int64('42');
const update = { petId, quantity: 12 };
const adjustment = { petId, by: -1 };

/** A newer release, or an edit in the AWS console, has made it so. */
const UNKNOWN_STATUS = { status: 'reserved' };

/** The condition of a write must know each: a missing one takes stock from an entry that cannot be read. */
const fields = v.keyof(v.omit(stockEntrySchema, ['petId'])).options;
const required = fields.filter((field) => !v.is(v.pick(inventoryItemSchema, [field]), {}));

const failure = (outcome: string, fault = 'status') => ({
  code: 'INTERNAL_ERROR',
  message: expect.stringContaining(`The service failed while processing this request. ${outcome}`),
  cause: { message: expect.stringContaining(`petId 42 cannot be read: ${fault} is `) },
});

/** An applied change whose entry cannot be read: the cause is logged. */
const unknown = (message: string, fault = 'status') => ({
  ...failure('', fault),
  code: 'UPDATE_OUTCOME_UNKNOWN',
  message: expect.stringContaining(message),
});

describe.each(engines)('an unreadable entry, on %s', (_engine, start) => {
  const faulty = new FaultyStock(start, anEntry(42, 5));

  const put = (more: object) => faulty.stock.put(anEntry(42, 5), { version: 'v1', ...more });
  const makeUnreadable = () => put(UNKNOWN_STATUS);

  describe.each<[string, StockChange, (change: StockChange) => Promise<StockVersion>]>([
    ['an update', update, (change) => faulty.store.change(change)],
    ['an update that names its version', { ...update, versions: ['v1'] }, (change) => faulty.store.change(change)],
    ['an adjustment', adjustment, (change) => faulty.store.change(change)],
    ['an update with an Idempotency-Key', update, (change) => faulty.keyed(change)],
    ['an adjustment with an Idempotency-Key', adjustment, (change) => faulty.keyed(change)],
  ])('is not changed by %s', (_, change, apply) => {
    test.each<[string, object]>([
      ...fields.map((field): [string, object] => [field, { [field]: true }]),
      ...required.map((field): [string, object] => [field, { [field]: undefined }]),
      ['status', UNKNOWN_STATUS],
      ['quantity', { quantity: -1 }],
      ['quantity', { quantity: MAX_QUANTITY + 1 }],
      ['version', { version: 1 }],
    ])('for its %s: %j', async (field, more) => {
      await put(more);
      const before = await faulty.stock.readItem('42');

      await expect(apply(change)).rejects.toMatchObject(failure('Nothing was changed.', field));
      expect(await faulty.stock.readItem('42')).toEqual(before);
    });
  });

  test('costs readable ones no extra call', async () => {
    await faulty.store.change(adjustment);
    await faulty.keyed(update);

    expect(faulty.engine.actions).toEqual(['UpdateItem', 'GetItem', 'TransactWriteItems']);
  });

  test('is reported as perhaps changed after a lost response', async () => {
    faulty.failWrites({ kind: 'lostResponse' });
    faulty.before(isRead, makeUnreadable);

    await expect(faulty.store.change(adjustment)).rejects.toMatchObject(
      unknown('The update may have been applied: read the entry'),
    );
  });

  test('is reported as perhaps changed if the first attempt with an Idempotency-Key was lost', async () => {
    faulty.failWrites({ kind: 'hangUp' });
    faulty.before(isWrite, makeUnreadable, 2);

    await expect(faulty.keyed(update)).rejects.toMatchObject(
      unknown('The update may have been applied: send the same request again with the same Idempotency-Key.'),
    );
  });

  test('keeps the response to a retried update, and reports that an adjustment may have been applied', async () => {
    const first = await faulty.keyed(update, 'repeated update');
    await faulty.keyed(adjustment, 'repeated adjustment');
    await put(UNKNOWN_STATUS);

    expect(await faulty.keyed(update, 'repeated update')).toEqual({ ...first, isReplayed: true });
    await expect(faulty.keyed(adjustment, 'repeated adjustment')).rejects.toMatchObject(
      unknown('The update may have been applied'),
    );
    expect(await faulty.stock.read('42')).toMatchObject({ quantity: 5, version: 'v1' });
  });

  test('with a fractional quantity is reported as perhaps changed', async () => {
    await put({ quantity: 5.5 });
    for (const apply of [() => faulty.store.change(adjustment), () => faulty.keyed(adjustment)])
      await expect(apply()).rejects.toMatchObject(unknown('The update may have been applied', 'quantity'));

    expect(await faulty.store.change(update)).toMatchObject({ entry: anEntry(42, 12) });
  });
});
