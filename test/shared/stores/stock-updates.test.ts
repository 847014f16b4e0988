import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DAY_MS } from '../../../shared/keys/verdict.ts';
import type { IdempotentRequest, IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { StockStore, type StockUpdate, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine, engines, testClient } from '../../support/engines.ts';
import { dynamoDBError, type Fault } from '../../support/faulty-engine.ts';
import { anAuthor, changesOver, FaultyStock, isRead, isWrite } from './faulty-stock.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry, StockTable } from '../../support/tables.ts';

acceptForeignErrors();

const aRequest = (differences: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  requestId: randomUUID(),
  fingerprint: 'f1',
  ...differences,
});

const anUpdate = (differences: Partial<StockUpdate> = {}): StockUpdate => ({
  petId: int64('42'),
  quantity: 12,
  ...differences,
});

const etag = (version: string) => ({ code: 'PRECONDITION_FAILED', headers: { ETag: `"${version}"` } });
const NOT_FOUND = { code: 'PET_NOT_FOUND' };

describeOnEachEngine('updates of the stock', (newClient) => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let store: StockStore;
  let idempotent: IdempotentChanges;

  beforeAll(async () => {
    const whole = testClient();
    client = newClient();
    stock = await StockTable.create(whole);
    store = new StockStore(client, stock.name);
    ({ changes: idempotent } = await changesOver(client, store, whole));
  });

  beforeEach(async () => {
    await stock.put(anEntry(42, 1, 'pending'), { version: 'v1' });
    await stock.put(anEntry(43, 1, 'sold'));
    await stock.delete('44');
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const keyed = (...of: [IdempotentRequest, StockUpdate]) => idempotent.applyIdempotently(...of, anAuthor);
  const ways: readonly [string, (update: StockUpdate) => Promise<StockVersion>][] = [
    ['without an Idempotency-Key', (update) => store.change(update)],
    ['with an Idempotency-Key', (update) => keyed(aRequest(), update)],
  ];

  describe.each(ways)('%s', (_, apply) => {
    test.each([[undefined], [['v1']]])('replace the version %j, whatever the names of fields', async (versions) => {
      await stock.put(anEntry(42, 1, 'pending'), { version: 'v1', comment: 'a' });
      const update = { ...anUpdate({ versions }), comment: 'b', least: 'b' };
      const { entry, version } = await apply(update);

      expect([entry, version !== 'v1']).toEqual([anEntry(42, 12, 'pending'), true]);
      expect(await stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
      expect(await stock.readItem('42')).toMatchObject({ comment: 'b', least: 'b' });
    });

    test('refuse another version with the current one, and a missing pet', async () => {
      await expect(apply(anUpdate({ versions: ['v0', 'W/"v1"'] }))).rejects.toMatchObject(etag('v1'));
      expect(await stock.read('42')).toMatchObject({ quantity: 1, version: 'v1' });
      await expect(apply(anUpdate({ petId: int64('44'), versions: ['v1'] }))).rejects.toMatchObject(NOT_FOUND);
      expect(await stock.read('44')).toBeUndefined();
    });

    test('give an entry without a version the ETag of the refusal', async () => {
      const update = anUpdate({ petId: int64('43'), versions: ['v0'] });
      await expect(apply(update)).rejects.toMatchObject(etag('unversioned43'));
      const { version } = await apply({ ...update, versions: ['v0', 'unversioned43'] });

      expect(await stock.read('43')).toEqual({ quantity: 12, status: 'sold', version });
      await expect(apply({ ...update, versions: ['unversioned43'] })).rejects.toMatchObject(etag(version));
    });
  });

  describe('that are repeated', () => {
    test('are applied once and return the same response', async () => {
      const request = aRequest();
      const first = await keyed(request, anUpdate({ versions: ['v1'] }));
      const replayed = { ...first, isReplayed: true };
      await stock.put(anEntry(42, 99, 'sold'), { version: 'v9' });

      expect(await keyed(request, anUpdate({ versions: ['v1'] }))).toEqual(replayed);
      await stock.delete('42');
      expect(await keyed(request, anUpdate({ versions: ['v1'] }))).toEqual(replayed);
      expect(await stock.read('42')).toBeUndefined();
    });

    test('are refused first if they differ from the original', async () => {
      const request = aRequest();
      await keyed(request, anUpdate());
      for (const update of [anUpdate(), anUpdate({ versions: ['v0'] }), anUpdate({ petId: int64('44') })]) {
        const repeated = keyed({ ...request, fingerprint: 'f2' }, update);
        await expect(repeated).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
      }
    });

    test('are tried again if they were refused', async () => {
      const request = aRequest();
      const update = anUpdate({ petId: int64('44') });
      await expect(keyed(request, update)).rejects.toMatchObject(NOT_FOUND);
      await stock.put(anEntry(44, 1, 'sold'));

      expect(await keyed(request, update)).toMatchObject({
        entry: anEntry(44, 12, 'sold'),
      });
    });

    test.each([
      ['a second before its day is over get the same response', DAY_MS - 2_000, false],
      ['when its day is over are new ones', DAY_MS, true],
    ])('%s', async (_, later, isNew) => {
      const now = Date.now();
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
      const request = aRequest();
      const first = await keyed(request, anUpdate());
      clock.mockReturnValue(now + later);
      const second = await keyed(request, anUpdate());

      expect(second.version !== first.version).toBe(isNew);
    });
  });
});

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

const petId = int64('42');

describe.each(engines)('an update of the stock, on %s', (_engine, start) => {
  const faulty = new FaultyStock(start, anEntry(42, 1, 'pending'));

  const writes = (): number => faulty.engine.actions.filter(isWrite).length;

  const update = { petId, quantity: 12 };
  describe.each(faulty.ways)('%s', (_, apply) => {
    test.each([
      ['throttled', THROTTLED],
      ['in conflict with others', IN_CONFLICT],
    ])('that is %s is retried', async (__, fault) => {
      faulty.failWrites(fault, fault, fault);
      const { version } = await apply(update);

      expect(writes()).toBe(4);
      expect(await faulty.stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
    });

    test('that is throttled fails after four attempts', async () => {
      faulty.failWrites(THROTTLED, THROTTLED, THROTTLED, THROTTLED);

      await expect(apply(update)).rejects.toMatchObject({ name: 'ThrottlingException' });
      expect(writes()).toBe(4);
      expect(await faulty.stock.read('42')).toMatchObject({ version: 'v1' });
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

    test('is applied once after an idle connection was closed', async () => {
      let now = Date.now();
      jest.spyOn(Date, 'now').mockImplementation(() => now);
      for (let count = 0; count < 5; count++) {
        await faulty.store.change({ petId, by: 1 });
        faulty.engine.dropConnections();
        // More than a connection may be idle.
        now += 21_000;
      }
      jest.restoreAllMocks();

      expect(writes()).toBe(5);
      expect(await faulty.stock.read('42')).toMatchObject({ quantity: 6 });
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
