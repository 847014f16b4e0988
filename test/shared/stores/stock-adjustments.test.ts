import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { MAX_QUANTITY } from '../../../shared/contract/inventory.ts';
import type { StockVersion } from '../../../shared/stores/stock-store.ts';
import { engines } from '../../support/engines.ts';
import { dynamoDBError, type Fault } from '../../support/faulty-engine.ts';
import { FaultyStock, isRead } from './faulty-stock.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { Random } from '../../support/random.ts';
import { anEntry } from '../../support/tables.ts';

acceptForeignErrors();

const petId = int64('42');
const insufficient = (etag: string) => ({ code: 'INSUFFICIENT_STOCK', status: 409, headers: { ETag: `"${etag}"` } });

describe.each(engines)('an adjustment of the stock, on %s', (_engine, start) => {
  const faulty = new FaultyStock(start, anEntry(42, 5, 'pending'));

  const take = (by: number, requestId?: string): Promise<StockVersion> => faulty.keyed({ petId, by }, requestId);

  describe.each(faulty.ways)('%s', (_, apply) => {
    test.each([
      [3, 8],
      [-5, 0],
      [MAX_QUANTITY - 5, MAX_QUANTITY],
    ])('of %d turns 5 into %d and keeps the status', async (by, quantity) => {
      const { entry, version } = await apply({ petId, by });

      expect(entry).toEqual(anEntry(42, quantity, 'pending'));
      expect(await faulty.stock.read('42')).toEqual({ quantity, status: 'pending', version });
    });

    test.each([-6, MAX_QUANTITY - 4])('of %d is refused without effect', async (by) => {
      await expect(apply({ petId, by })).rejects.toMatchObject(insufficient('v1'));
      await expect(apply({ petId, by, versions: ['v0'] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
      expect(await faulty.stock.read('42')).toEqual({ quantity: 5, status: 'pending', version: 'v1' });
    });
  });

  test('with a key is applied once, and a retry returns the current entry', async () => {
    await take(-2, 'once');
    await faulty.store.change({ petId, by: 10 });

    expect(await take(-2, 'once')).toMatchObject({ entry: anEntry(42, 13, 'pending') });
    expect(await faulty.stock.read('42')).toMatchObject({ quantity: 13 });
  });

  test('with a key returns no 409 while a lost attempt may still be applied', async () => {
    faulty.failWrites({ kind: 'hangUp' });

    await expect(take(-6)).rejects.toMatchObject({
      code: 'UPDATE_OUTCOME_UNKNOWN',
      headers: { 'Retry-After': '1' },
      message: expect.stringContaining('the same Idempotency-Key'),
    });
  });

  test('with a key whose transaction is canceled for a conflict and a fault fails with the fault', async () => {
    const CancellationReasons = ['TransactionConflict', 'ValidationError'].map((Code) => ({ Code }));
    const canceled = dynamoDBError(400, 'TransactionCanceledException', { CancellationReasons });
    faulty.engine.faults = ({ action }) => (isRead(action) ? undefined : canceled);

    await expect(take(-1)).rejects.toMatchObject({ cause: { name: 'ValidationError' } });
    expect(faulty.engine.calls).toHaveLength(1);
  });

  test('of -1 by 100 clients takes exactly 60 of a stock of 60, despite faults', async () => {
    await faulty.stock.put(anEntry(42, 60), { version: 'v1' });
    const random = new Random(60);
    const faults: readonly Fault[] = [{ kind: 'lostResponse' }, { kind: 'hangUp' }, { kind: 'falseFailure' }];
    faulty.engine.faults = () => (random.isLikely(0.2) ? random.pick(faults) : undefined);
    const codes = new Map<number, string>();
    const unsure = () => Array.from({ length: 100 }, (_, client) => client).filter((client) => !codes.has(client));
    for (let rounds = 0; rounds < 50 && unsure().length > 0; rounds++) {
      await Promise.all(
        unsure().map(async (client) => {
          const code = await take(-1, `client ${client}`).then(() => 'taken', codeOf);
          if (code !== 'SERVICE_UNAVAILABLE' && code !== 'UPDATE_OUTCOME_UNKNOWN') codes.set(client, code);
        }),
      );
    }
    faulty.engine.faults = () => undefined;
    const count = (code: string) => [...codes.values()].filter((one) => one === code).length;

    expect([count('taken'), count('INSUFFICIENT_STOCK')]).toEqual([60, 40]);
    expect(await faulty.stock.read('42')).toMatchObject({ quantity: 0 });
  });
});

const codeOf = (error: unknown): string => (error instanceof ServiceError ? error.code : String(error));
