import { beforeEach, describe, expect, test } from '@jest/globals';
import type { StockAuthor } from '../../../shared/stores/stock-history.ts';
import { engines } from '../../support/engines.ts';
import { dynamoDBError, type Fault } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry } from '../../support/tables.ts';
import { FaultyStock, isRead, isWrite } from './faulty-stock.ts';

acceptForeignErrors();

const author: StockAuthor = { who: 'r3c0rd', token: 'main/OLAJ', how: 'update', reference: 'PO-7', reason: 'counted' };

const ofRecord = (action: string): boolean => action === 'PutItem';
const withRecord = (action: string, body: string): boolean => isWrite(action) && body.includes('main/OLAJ');
const canceled = (...codes: readonly string[]) =>
  dynamoDBError(400, 'TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });

let pets = 100;

describe.each(engines)('the history of the stock, on %s', (_engine, start) => {
  const faulty = new FaultyStock(start, anEntry(42, 5, 'pending'));
  let petId = int64('0');

  beforeEach(async () => {
    petId = int64(String((pets += 1)));
    await faulty.stock.put(anEntry(petId, 5, 'pending'), { version: 'v1' });
  });

  const recorded = () => faulty.recorded(petId);
  const apply = (change: object, requestId?: string) => faulty.apply({ petId, ...change }, author, requestId);

  /** Calls of one kind fail. */
  const fail = (fault: Fault, isMeant: (action: string, body: string) => boolean): void => {
    faulty.engine.faults = ({ action, body }) => (isMeant(action, body) ? fault : undefined);
  };

  test.each([
    ['an update', { quantity: 3 }, { quantity: 3, status: 'pending' }],
    ['an update that leaves the quantity', { quantity: 5 }, { quantity: 5, status: 'pending' }],
    ['a status', { status: 'sold' }, { quantity: 5, status: 'sold' }],
    ['an adjustment', { by: -2 }, { quantity: 3, status: 'pending' }],
  ] as const)('has %s, with what it replaced', async (_, change, after) => {
    const added = 'by' in change ? { added: change.by } : {};
    const { version } = await apply(change);

    expect(await recorded()).toEqual([{ ...author, ...after, ...added, version, was: 5, replaced: 'v1' }]);
    expect(await faulty.stock.read(petId)).toMatchObject({ ...after, version });
  });

  test.each([
    ['an update', { quantity: 3 }, { quantity: 3, status: 'pending' }],
    ['an adjustment', { by: -2 }, { added: -2 }],
    [
      'what the request expects',
      { quantity: 3, versions: ['v1'], ifQuantity: 5 },
      { quantity: 3, was: 5, replaced: 'v1', status: 'pending' },
    ],
  ])('has %s with an Idempotency-Key once, in one transaction', async (_, change, fields) => {
    const first = await apply(change, `key of ${petId}`);
    const second = await apply(change, `key of ${petId}`);

    expect(second).toMatchObject({ version: first.version, isReplayed: true });
    expect(await recorded()).toEqual([{ ...author, ...fields, version: first.version }]);
  });

  test('has what a lost response leaves unknown as unknown', async () => {
    faulty.failWrites({ kind: 'lostResponse' });
    const { version } = await apply({ quantity: 3 });
    faulty.failWrites({ kind: 'lostResponse' });
    const second = await apply({ quantity: 4, versions: [version] });

    expect(await recorded()).toEqual([
      { ...author, quantity: 3, status: 'pending', version },
      { ...author, quantity: 4, status: 'pending', version: second.version, replaced: version },
    ]);
  });

  test('names the version, not the quantity, of an entry that an update has healed', async () => {
    await faulty.stock.put(anEntry(petId, 1.5, 'pending'), { version: 'v1' });
    await apply({ quantity: 3 });

    expect(await recorded()).toMatchObject([{ quantity: 3, replaced: 'v1' }]);
    expect((await recorded())[0]).not.toHaveProperty('was');
  });

  test('has nothing of a refused change', async () => {
    await expect(apply({ quantity: 3, versions: ['v0'] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(apply({ by: -6 }, `key of ${petId}`)).rejects.toMatchObject({ code: 'INSUFFICIENT_STOCK' });

    expect(await recorded()).toEqual([]);
    expect(faulty.lost).toEqual([]);
  });

  describe.each<[what: string, fault: Fault, isMeant: typeof withRecord, requestId?: string]>([
    ['throttled', dynamoDBError(400, 'ThrottlingException'), ofRecord],
    ['not permitted', dynamoDBError(400, 'AccessDeniedException'), ofRecord],
    ['not answered', { kind: 'silence' }, ofRecord],
    ['throttled in a transaction', canceled('None', 'None', 'ThrottlingError'), withRecord, 'a key'],
    ['invalid in a transaction', canceled('None', 'None', 'ValidationError'), withRecord, 'b key'],
    ['not permitted in a transaction', dynamoDBError(400, 'AccessDeniedException'), withRecord, 'c key'],
    ['of no table in a transaction', dynamoDBError(400, 'ResourceNotFoundException'), withRecord, 'd key'],
  ])('whose record is %s', (_, fault, isMeant, requestId) => {
    test.each([{ quantity: 3 }, { by: -2 }])('loses it, and not the change %j', async (change) => {
      fail(fault, isMeant);
      const { entry, version } = await apply(change, requestId && `${requestId} of ${petId}`);

      expect(entry).toEqual(anEntry(petId, 3, 'pending'));
      expect(await faulty.stock.read(petId)).toEqual({ quantity: 3, status: 'pending', version });
      expect(await recorded()).toEqual([]);
      expect(faulty.lost).toHaveLength(1);
    });
  });

  test('is left out after a lost response, as the history may have caused it', async () => {
    fail({ kind: 'hangUp' }, withRecord);
    await apply({ quantity: 3 }, `key of ${petId}`);

    expect(await faulty.stock.read(petId)).toMatchObject({ quantity: 3 });
    expect([await recorded(), faulty.lost.length]).toEqual([[], 1]);
  });

  test('is reported as lost also by the attempt after the one without it', async () => {
    const left = [canceled('None', 'None', 'ThrottlingError'), dynamoDBError(400, 'ThrottlingException')];
    faulty.engine.faults = ({ action }) => (isWrite(action) ? left.shift() : undefined);
    await apply({ by: -2 }, `key of ${petId}`);

    expect(await faulty.stock.read(petId)).toMatchObject({ quantity: 3 });
    expect([await recorded(), faulty.lost.length]).toEqual([[], 1]);
  });

  test('is not reported as lost if the response of its own transaction was', async () => {
    faulty.failWrites({ kind: 'lostResponse' });
    const { version } = await apply({ quantity: 3 }, `key of ${petId}`);

    expect(await recorded()).toMatchObject([{ quantity: 3, version }]);
    expect(faulty.lost).toEqual([]);
  });

  test('takes no further attempt where the change itself is in conflict, or is not permitted', async () => {
    fail(canceled('None', 'TransactionConflict', 'ThrottlingError'), isWrite);
    await expect(apply({ quantity: 3 }, `key of ${petId}`)).rejects.toMatchObject({ name: 'TransactionConflict' });
    expect(faulty.engine.actions.filter(isWrite)).toHaveLength(4);
    faulty.engine.calls.length = 0;
    fail(dynamoDBError(400, 'AccessDeniedException'), isWrite);
    await expect(apply({ quantity: 3 }, `key of ${petId}`)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });

    expect(faulty.engine.actions.filter((action) => !isRead(action))).toHaveLength(2);
    expect([await recorded(), faulty.lost]).toEqual([[], []]);
  });
});
