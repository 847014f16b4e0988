import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { IdempotentUpdates } from '../../../shared/stores/idempotent-updates.ts';
import { StockStore, type StockUpdate, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { pointSdkAt } from '../../support/engines.ts';
import { dynamoDBError, type Fault, FaultyEngine } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';
import { createRequestsTable } from '../../support/tables.ts';

acceptForeignErrors();

const THROTTLED = dynamoDBError(400, 'ThrottlingException');
const IN_CONFLICT = dynamoDBError(400, 'TransactionConflictException');

/** What goes wrong with calls that are carried out, or may be, and their answers. */
const losses: readonly [string, Fault][] = [
  ['is lost', { kind: 'lostAnswer' }],
  ['breaks off', { kind: 'halfAnswer' }],
  ['is a failure', { kind: 'falseFailure' }],
];

const petId = int64('42');

describe('An update of the stock', () => {
  let engine: FaultyEngine;
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let store: StockStore;
  let idempotent: IdempotentUpdates;

  beforeAll(async () => {
    engine = await FaultyEngine.start();
    pointSdkAt(engine.endpoint);
    client = documentClient({ maxAttempts: 1, requestTimeout: 10_000 });
    stock = await StockTable.create(client);
    store = new StockStore(client, stock.name);
    idempotent = new IdempotentUpdates(client, store, await createRequestsTable(client));
  });

  afterAll(() => engine.stop());

  beforeEach(async () => {
    engine.faults = () => undefined;
    await stock.put(anEntry(42, 1, 'pending'), { version: 'v1' });
    engine.calls.length = 0;
  });

  /** What goes wrong with the writes, one after the other. */
  function failWrites(...faults: readonly Fault[]): void {
    const left = [...faults];
    engine.faults = ({ action }) => (isWrite(action) ? left.shift() : undefined);
  }
  const writes = (): number => engine.calls.filter(isWrite).length;

  const update = { petId, quantity: 12 };
  const keyed = (asked: StockUpdate = update, requestId: string = randomUUID()) =>
    idempotent.once({ requestId, fingerprint: 'f' }, asked);
  const ways: readonly [string, () => Promise<StockVersion>][] = [
    ['without an Idempotency-Key', () => store.update(update)],
    ['with one', () => keyed()],
  ];

  describe.each(ways)('%s', (_, apply) => {
    test.each([
      ['throttled', THROTTLED],
      ['in conflict with others', IN_CONFLICT],
    ])('that is %s is tried again', async (__, fault) => {
      failWrites(fault, fault, fault);
      const { version } = await apply();

      expect(writes()).toBe(4);
      expect(await stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
    });

    test('that is throttled again and again is 503 after four tries', async () => {
      failWrites(THROTTLED, THROTTLED, THROTTLED, THROTTLED);

      await expect(apply()).rejects.toMatchObject(unavailable('cannot reach its data'));
      expect(writes()).toBe(4);
      expect(await stock.read('42')).toMatchObject({ version: 'v1' });
    });

    test.each(losses)('whose answer %s is answered as it was stored, once', async (__, fault) => {
      failWrites(fault);
      const { version } = await apply();

      expect(await stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
    });

    test('that never arrives is 503', async () => {
      failWrites({ kind: 'hangUp' }, { kind: 'hangUp' }, { kind: 'hangUp' }, { kind: 'hangUp' });

      await expect(apply()).rejects.toMatchObject(unavailable('Nobody can tell'));
      expect(await stock.read('42')).toMatchObject({ version: 'v1' });
    });
  });

  describe('without an Idempotency-Key', () => {
    test('is not sent again once its answer was lost', async () => {
      failWrites(THROTTLED, { kind: 'hangUp' });

      await expect(store.update(update)).rejects.toMatchObject(unavailable('read the entry'));
      expect(engine.calls).toEqual(['UpdateItem', 'UpdateItem', 'GetItem']);
    });

    test.each<[string, () => Promise<void>]>([
      ['others have replaced it', () => stock.put(anEntry(42, 99), { version: 'v9' })],
      ['the entry is gone', () => stock.delete('42')],
    ])('is 503 where its answer was lost and %s', async (_, others) => {
      failWrites({ kind: 'lostAnswer' });
      engine.beforeCall = async ({ action }) => {
        if (action !== 'GetItem') return;
        engine.beforeCall = () => Promise.resolve();
        await others();
      };

      await expect(store.update(update)).rejects.toMatchObject(unavailable('Nobody can tell'));
    });

    test('is 503 where nobody can be asked after its answer was lost', async () => {
      engine.faults = ({ action }) => (action === 'UpdateItem' ? { kind: 'lostAnswer' } : THROTTLED);

      await expect(store.update(update)).rejects.toMatchObject(unavailable('Nobody can tell'));
    });
  });

  describe('with an Idempotency-Key', () => {
    test('gets its answer where all of them were lost, whatever others did', async () => {
      const requestId = randomUUID();
      const lost: Fault = { kind: 'lostAnswer' };
      failWrites(lost, lost, lost, lost);
      await expect(keyed(update, requestId)).rejects.toMatchObject(unavailable('the same Idempotency-Key'));
      const stored = await stock.read('42');
      await stock.put(anEntry(42, 99), { version: 'v9' });

      expect(await keyed(update, requestId)).toEqual({ entry: anEntry(42, 12, 'pending'), version: stored?.version });
      expect(await stock.read('42')).toMatchObject({ quantity: 99 });
    });

    test('is done once where it arrives late, after its repetition', async () => {
      failWrites({ kind: 'late', milliseconds: 300 });
      const { version } = await keyed();
      await stock.put(anEntry(42, 99), { version: 'v9' });
      await engine.settled();

      expect(version).not.toBe('v9');
      expect(await stock.read('42')).toMatchObject({ quantity: 99, version: 'v9' });
    });

    test('answers with the status that it was stored with, though another changed it meanwhile', async () => {
      let changes = 2;
      engine.beforeCall = async ({ action }) => {
        if (action !== 'TransactWriteItems' || changes-- === 0) return;
        await stock.put(anEntry(42, 1, changes === 1 ? 'sold' : 'available'), { version: 'v1' });
      };
      const { entry, version } = await keyed({ ...update, versions: ['v1'] });
      engine.beforeCall = () => Promise.resolve();

      expect(entry).toEqual(anEntry(42, 12, 'available'));
      expect(await stock.read('42')).toEqual({ quantity: 12, status: 'available', version });
    });

    test('is no 404 where a try whose answer was lost may still be done', async () => {
      failWrites({ kind: 'hangUp' });
      await stock.delete('42');

      await expect(keyed()).rejects.toMatchObject(unavailable('Nobody can tell'));
    });
  });
});

const isWrite = (action: string): boolean => action === 'UpdateItem' || action === 'TransactWriteItems';

const unavailable = (message: string) => ({
  code: 'SERVICE_UNAVAILABLE',
  headers: { 'Retry-After': '1' },
  message: expect.stringContaining(message),
});
