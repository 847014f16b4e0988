import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { DAY_MS } from '../../../shared/keys/verdict.ts';
import type { StockUpdate } from '../../../shared/stores/stock-store.ts';
import { engines } from '../../support/engines.ts';
import { dynamoDBError, type Fault } from '../../support/faulty-engine.ts';
import { FaultyStock, isRead, isWrite } from './faulty-stock.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry } from '../../support/tables.ts';

acceptForeignErrors();
afterEach(() => void jest.restoreAllMocks());

const petId = int64('42');
const update = { petId, quantity: 12 };

const anUpdate = (differences: Partial<StockUpdate> = {}): StockUpdate => ({ ...update, ...differences });

const etag = (version: string) => ({ code: 'PRECONDITION_FAILED', headers: { ETag: `"${version}"` } });
const NOT_FOUND = { code: 'PET_NOT_FOUND' };

const THROTTLED = dynamoDBError(400, 'ThrottlingException');
const CLOSED = { code: 'ECONNRESET' };
const IN_CONFLICT = dynamoDBError(400, 'TransactionConflictException');

/** What goes wrong with calls that are carried out, or may be, and their responses. */
const losses: readonly [string, Fault][] = [
  ['is lost', { kind: 'lostResponse' }],
  ['is truncated', { kind: 'halfResponse' }],
  ['is a failure', { kind: 'falseFailure' }],
  ['cannot be parsed', { kind: 'garbledResponse' }],
];

describe.each(engines)('an update of the stock, on %s', (_engine, start) => {
  const faulty = new FaultyStock(start, anEntry(42, 1, 'pending'));

  const writes = (): number => faulty.engine.actions.filter(isWrite).length;

  describe.each(faulty.ways)('%s', (_, apply) => {
    test.each([[undefined], [['v1']]])('replaces the version %j, whatever the names of fields', async (versions) => {
      await faulty.stock.put(anEntry(42, 1, 'pending'), { version: 'v1', comment: 'a' });
      const more = { comment: 'b', least: 'b' };
      const { entry, version } = await apply({ ...anUpdate({ versions }), ...more });

      expect([entry, version !== 'v1']).toEqual([anEntry(42, 12, 'pending'), true]);
      expect(await faulty.stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
      expect(await faulty.stock.readItem('42')).toMatchObject({ comment: 'b', least: 'b' });
    });

    test('refuses another version with the current one, and a missing pet', async () => {
      await expect(apply(anUpdate({ versions: ['v0', 'W/"v1"'] }))).rejects.toMatchObject(etag('v1'));
      expect(await faulty.stock.read('42')).toMatchObject({ quantity: 1, version: 'v1' });
      await expect(apply(anUpdate({ petId: int64('44'), versions: ['v1'] }))).rejects.toMatchObject(NOT_FOUND);
      expect(await faulty.stock.read('44')).toBeUndefined();
    });

    test('gives an entry without a version the ETag of the refusal', async () => {
      await faulty.stock.put(anEntry(43, 1, 'sold'));
      const other = anUpdate({ petId: int64('43'), versions: ['v0'] });
      await expect(apply(other)).rejects.toMatchObject(etag('unversioned43'));
      const { version } = await apply({ ...other, versions: ['v0', 'unversioned43'] });

      expect(await faulty.stock.read('43')).toEqual({ quantity: 12, status: 'sold', version });
      await expect(apply({ ...other, versions: ['unversioned43'] })).rejects.toMatchObject(etag(version));
    });

    test.each([
      ['throttled', THROTTLED],
      ['in conflict with others', IN_CONFLICT],
    ])('that is %s is retried', async (__, fault) => {
      faulty.failWrites(fault, fault, fault);
      const { version } = await apply(update);

      expect(writes()).toBe(4);
      expect(await faulty.stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
    });

    test.each(losses)('whose response %s is applied once and returned as stored', async (__, fault) => {
      faulty.failWrites(fault);
      const { version } = await apply(update);

      expect(await faulty.stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
    });
  });

  describe('without an Idempotency-Key', () => {
    test('is not retried after a lost response', async () => {
      faulty.failWrites(THROTTLED, { kind: 'hangUp' });

      await expect(faulty.store.change(update)).rejects.toMatchObject(outcomeUnknown('read the entry'));
      expect(faulty.engine.actions).toEqual(['UpdateItem', 'UpdateItem', 'GetItem']);
    });

    test('fails with the cause of its read after a lost response', async () => {
      faulty.engine.faults = ({ action }) => (isWrite(action) ? { kind: 'halfResponse' } : THROTTLED);
      const unknown = outcomeUnknown('read the entry', {}, { name: 'ThrottlingException' });

      await expect(faulty.store.change({ ...update, versions: ['v1'] })).rejects.toMatchObject(unknown);
      expect(faulty.engine.actions).toEqual(['UpdateItem', 'GetItem']);
    });

    test('with a version is retried after a closed connection, and applied once', async () => {
      faulty.failWrites({ kind: 'hangUp' });
      const { version } = await faulty.store.change({ ...update, versions: ['v1'] });
      expect(faulty.engine.actions).toEqual(['UpdateItem', 'UpdateItem']);

      faulty.failWrites({ kind: 'lostResponse' });
      const second = await faulty.store.change({ petId, quantity: 13, versions: [version] });
      expect(await faulty.stock.read('42')).toEqual({ quantity: 13, status: 'pending', version: second.version });
    });

    test('with a version returns 503 if another client wins over its retry', async () => {
      faulty.failWrites({ kind: 'hangUp' });
      faulty.before(isWrite, () => faulty.stock.put(anEntry(42, 99), { version: 'v9' }), 2);
      const outcome = faulty.store.change({ ...update, versions: ['v1'] });

      await expect(outcome).rejects.toMatchObject(outcomeUnknown('may have been applied', {}, CLOSED));
    });

    test('returns 503 if its response was lost and the entry is deleted', async () => {
      faulty.failWrites({ kind: 'lostResponse' });
      faulty.before(isRead, () => faulty.stock.delete('42'));

      await expect(faulty.store.change(update)).rejects.toMatchObject(outcomeUnknown('may have been applied'));
    });
  });

  describe('with an Idempotency-Key', () => {
    test('is applied once and returns the same response', async () => {
      const requestId = randomUUID();
      const first = await faulty.keyed(anUpdate({ versions: ['v1'] }), requestId);
      const replayed = { ...first, isReplayed: true };
      await faulty.stock.put(anEntry(42, 99, 'sold'), { version: 'v9' });

      expect(await faulty.keyed(anUpdate({ versions: ['v1'] }), requestId)).toEqual(replayed);
      await faulty.stock.delete('42');
      expect(await faulty.keyed(anUpdate({ versions: ['v1'] }), requestId)).toEqual(replayed);
      expect(await faulty.stock.read('42')).toBeUndefined();
    });

    test('is refused first if it differs from the original', async () => {
      const requestId = randomUUID();
      await faulty.keyed(anUpdate(), requestId);
      for (const other of [anUpdate(), anUpdate({ versions: ['v0'] }), anUpdate({ petId: int64('44') })]) {
        const repeated = faulty.keyed(other, requestId, 'f2');
        await expect(repeated).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
      }
    });

    test('is tried again if it was refused', async () => {
      const requestId = randomUUID();
      const other = anUpdate({ petId: int64('44') });
      await expect(faulty.keyed(other, requestId)).rejects.toMatchObject(NOT_FOUND);
      await faulty.stock.put(anEntry(44, 1, 'sold'));

      expect(await faulty.keyed(other, requestId)).toMatchObject({ entry: anEntry(44, 12, 'sold') });
    });

    test.each([
      ['a second before its day is over gets the same response', DAY_MS - 2_000, false],
      ['when its day is over is a new one', DAY_MS, true],
    ])('%s', async (_, later, isNew) => {
      const now = Date.now();
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
      const requestId = randomUUID();
      const first = await faulty.keyed(anUpdate(), requestId);
      clock.mockReturnValue(now + later);
      const second = await faulty.keyed(anUpdate(), requestId);

      expect(second.version !== first.version).toBe(isNew);
    });

    test('returns its first response after all were lost', async () => {
      const requestId = randomUUID();
      faulty.failWrites(...Array.from({ length: 4 }, (): Fault => ({ kind: 'lostResponse' })));
      await expect(faulty.keyed(update, requestId)).rejects.toMatchObject(
        outcomeUnknown('the same Idempotency-Key', { 'Retry-After': '1' }),
      );
      const stored = await faulty.stock.read('42');
      await faulty.stock.put(anEntry(42, 99), { version: 'v9' });

      expect(await faulty.keyed(update, requestId)).toEqual({
        entry: anEntry(42, 12, 'pending'),
        version: stored?.version,
        isReplayed: true,
      });
    });

    test('returns the status that it was stored with, though another changed it meanwhile', async () => {
      let changes = 2;
      faulty.engine.beforeCall = async ({ action }) => {
        if (action !== 'TransactWriteItems' || changes-- === 0) return;
        await faulty.stock.put(anEntry(42, 1, changes === 1 ? 'sold' : 'available'), { version: 'v1' });
      };
      const { entry, version } = await faulty.keyed({ ...update, versions: ['v1'] });

      expect(entry).toEqual(anEntry(42, 12, 'available'));
      expect(await faulty.stock.read('42')).toEqual({ quantity: 12, status: 'available', version });
    });

    test('returns no 404 while a lost attempt may still be applied', async () => {
      faulty.failWrites({ kind: 'hangUp' });
      await faulty.stock.delete('42');

      await expect(faulty.keyed(update)).rejects.toMatchObject(
        outcomeUnknown('may have been applied', { 'Retry-After': '1' }, CLOSED),
      );
    });

    test('is repeated while the entry changes before it, and its throttled read fails as such', async () => {
      faulty.engine.beforeCall = async ({ action }) => {
        if (isWrite(action)) await faulty.stock.put(anEntry(42, 1, writes() % 2 === 0 ? 'sold' : 'available'));
      };
      await expect(faulty.keyed(update)).rejects.toMatchObject({ name: 'ConditionalCheckFailed' });
      expect(writes()).toBe(4);

      faulty.engine.faults = ({ action }) => (isRead(action) ? THROTTLED : undefined);
      await expect(faulty.keyed(update)).rejects.toMatchObject({ name: 'ThrottlingException' });
    });
  });
});

/** `Retry-After` invites a retry, which is safe only with an Idempotency-Key. */
const outcomeUnknown = (message: string, headers: object = {}, cause: object = {}) => ({
  code: 'UPDATE_OUTCOME_UNKNOWN',
  headers,
  message: expect.stringContaining(message),
  cause,
});
