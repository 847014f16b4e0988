import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { MAX_QUANTITY } from '../../../shared/contract/inventory.ts';
import type { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import type { StockAdjustment, StockStore, StockVersion } from '../../../shared/stores/stock-store.ts';
import { engines } from '../../support/engines.ts';
import type { Fault, FaultyEngine } from '../../support/faulty-engine.ts';
import { failWrites, openFaultyStock } from './faulty-stock.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { Random } from '../../support/random.ts';
import { anEntry, type StockTable } from '../../support/tables.ts';

acceptForeignErrors();

const petId = int64('42');
const insufficient = (etag: string) => ({ code: 'INSUFFICIENT_STOCK', status: 409, headers: { ETag: `"${etag}"` } });

describe.each(engines)('An adjustment of the stock, on %s', (_engine, start) => {
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
    await stock.put(anEntry(42, 5, 'pending'), { version: 'v1' });
    engine.calls.length = 0;
  });

  const take = (by: number, requestId = randomUUID() as string): Promise<StockVersion> =>
    idempotent.applyIdempotently({ requestId, fingerprint: 'f' }, { petId, by });
  const ways: readonly [string, (adjustment: StockAdjustment) => Promise<StockVersion>][] = [
    ['without an Idempotency-Key', (adjustment) => store.change(adjustment)],
    [
      'with one',
      (adjustment) => idempotent.applyIdempotently({ requestId: randomUUID(), fingerprint: 'f' }, adjustment),
    ],
  ];

  describe.each(ways)('%s', (_, apply) => {
    test.each([
      [3, 8],
      [-5, 0],
      [MAX_QUANTITY - 5, MAX_QUANTITY],
    ])('of %d makes 5 into %d, and leaves the status', async (by, quantity) => {
      const { entry, version } = await apply({ petId, by });

      expect(entry).toEqual(anEntry(42, quantity, 'pending'));
      expect(await stock.read('42')).toEqual({ quantity, status: 'pending', version });
    });

    test.each([-6, MAX_QUANTITY - 4])('of %d is refused, and nothing done', async (by) => {
      await expect(apply({ petId, by })).rejects.toMatchObject(insufficient('v1'));
      await expect(apply({ petId, by, versions: ['v0'] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
      expect(await stock.read('42')).toEqual({ quantity: 5, status: 'pending', version: 'v1' });
    });

    test.each<Fault['kind']>(['lostAnswer', 'halfAnswer', 'falseFailure'])('is made once after a %s', async (kind) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these kinds have nothing beside their name
      failWrites(engine, { kind } as Fault);

      expect(await apply({ petId, by: -2 })).toMatchObject({ entry: anEntry(42, 3, 'pending') });
      expect(await stock.read('42')).toMatchObject({ quantity: 3 });
    });
  });

  test('without a key is 503 where its answer was lost and another has changed the entry', async () => {
    failWrites(engine, { kind: 'lostAnswer' });
    engine.beforeCall = async ({ action }) => {
      if (action !== 'GetItem') return;
      engine.beforeCall = () => Promise.resolve();
      await store.change({ petId, by: 1 });
    };

    await expect(store.change({ petId, by: -2 })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      // No Idempotency-Key: a row of many updates takes none.
      message: 'The change may have been made: read the entry before you send it again.',
    });
    expect(await stock.read('42')).toMatchObject({ quantity: 4 });
  });

  test('with a key that is repeated is made once, and answered with the entry as it is', async () => {
    await take(-2, 'once');
    await store.change({ petId, by: 10 });

    expect(await take(-2, 'once')).toMatchObject({ entry: anEntry(42, 13, 'pending') });
    const other = idempotent.applyIdempotently({ requestId: 'once', fingerprint: 'g' }, { petId, by: -3 });
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await stock.read('42')).toMatchObject({ quantity: 13 });
  });

  test('with a key is no 409 where a try whose answer was lost may still be made', async () => {
    failWrites(engine, { kind: 'hangUp' });

    await expect(take(-6)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('the same Idempotency-Key'),
    });
  });

  test('of one each by 100 clients at a stock of 60 takes 60, whatever fails in between', async () => {
    await stock.put(anEntry(42, 60), { version: 'v1' });
    const random = new Random(60);
    const faults: readonly Fault[] = [{ kind: 'lostAnswer' }, { kind: 'hangUp' }, { kind: 'falseFailure' }];
    engine.faults = () => (random.isLikely(0.2) ? random.pick(faults) : undefined);
    const codes = new Map<number, string>();
    const unsure = () => Array.from({ length: 100 }, (_, client) => client).filter((client) => !codes.has(client));
    while (unsure().length > 0) {
      await Promise.all(
        unsure().map(async (client) => {
          const code = await take(-1, `client ${client}`).then(() => 'taken', codeOf);
          if (code !== 'SERVICE_UNAVAILABLE') codes.set(client, code);
        }),
      );
    }
    engine.faults = () => undefined;
    const count = (code: string) => [...codes.values()].filter((one) => one === code).length;

    expect([count('taken'), count('INSUFFICIENT_STOCK')]).toEqual([60, 40]);
    expect(await stock.read('42')).toMatchObject({ quantity: 0 });
  });
});

const codeOf = (error: unknown): string => (error instanceof ServiceError ? error.code : String(error));
