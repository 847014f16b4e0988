import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { documentClient } from '../../../shared/dynamodb.ts';
import { type IdempotentRequest, IdempotentUpdates } from '../../../shared/stores/idempotent-updates.ts';
import { StockStore, type StockUpdate, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';
import { createRequestsTable } from '../../support/tables.ts';

acceptForeignErrors();

const DAY_MS = 24 * 60 * 60 * 1_000;

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

const outcomeOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

describeOnEachEngine('Updates of the stock', () => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let store: StockStore;
  let requestsTable = '';
  let idempotent: IdempotentUpdates;

  beforeAll(async () => {
    client = documentClient({ maxAttempts: 1, requestTimeout: 10_000 });
    stock = await StockTable.create(client);
    requestsTable = await createRequestsTable(client);
    store = new StockStore(client, stock.name);
    idempotent = new IdempotentUpdates(client, store, requestsTable);
  });

  beforeEach(async () => {
    await stock.put(anEntry(42, 1, 'pending'), { version: 'v1' });
    await stock.put(anEntry(43, 1, 'sold'));
    await stock.delete('44');
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const ways: readonly [string, (update: StockUpdate) => Promise<StockVersion>][] = [
    ['without an Idempotency-Key', (update) => store.update(update)],
    ['with one', (update) => idempotent.once(aRequest(), update)],
  ];

  describe.each(ways)('%s', (_, apply) => {
    test.each<[string, StockUpdate['versions']]>([
      ['any version', undefined],
      ['its version', ['v1']],
      ['its version among others', ['"none"', 'v0', 'v1']],
    ])('replace %s, and leave the status', async (__, versions) => {
      const { entry, version } = await apply(anUpdate({ versions }));

      expect(entry).toEqual(anEntry(42, 12, 'pending'));
      expect(version).not.toBe('v1');
      expect(await stock.read('42')).toEqual({ quantity: 12, status: 'pending', version });
    });

    test.each([[['v0']], [['"none"', 'W/"v1"']]])(
      'refuse another version, with the current one: %j',
      async (versions) => {
        await expect(apply(anUpdate({ versions }))).rejects.toMatchObject(etag('v1'));
        expect(await stock.read('42')).toMatchObject({ quantity: 1, version: 'v1' });
      },
    );

    test.each([undefined, ['v1']])(
      'find no pet where there is none, whatever version is named: %j',
      async (versions) => {
        await expect(apply(anUpdate({ petId: int64('44'), versions }))).rejects.toMatchObject(NOT_FOUND);
        expect(await stock.read('44')).toBeUndefined();
      },
    );

    test('give an entry that was put in by hand a version, by the tag that a refusal tells', async () => {
      const update = anUpdate({ petId: int64('43'), versions: ['v0'] });
      await expect(apply(update)).rejects.toMatchObject(etag('unversioned43'));
      const { version } = await apply({ ...update, versions: ['v0', 'unversioned43'] });

      expect(await stock.read('43')).toEqual({ quantity: 12, status: 'sold', version });
      await expect(apply({ ...update, versions: ['unversioned43'] })).rejects.toMatchObject(etag(version));
    });

    test('of one version at once: one is done', async () => {
      const outcomes = await Promise.all(
        [7, 8, 9].map((quantity) => outcomeOf(apply(anUpdate({ quantity, versions: ['v1'] })))),
      );
      const done = outcomes.filter((outcome) => !(outcome instanceof ServiceError));

      expect(done).toHaveLength(1);
      expect(await store.find(int64('42'))).toEqual(done[0]);
    });
  });

  describe('that are repeated', () => {
    test('get the same answer, whatever others do, and are done once', async () => {
      const request = aRequest();
      const first = await idempotent.once(request, anUpdate({ versions: ['v1'] }));
      await stock.put(anEntry(42, 99, 'sold'), { version: 'v9' });

      expect(await idempotent.once(request, anUpdate({ versions: ['v1'] }))).toEqual(first);
      await stock.delete('42');
      expect(await idempotent.once(request, anUpdate({ versions: ['v1'] }))).toEqual(first);
      expect(await stock.read('42')).toBeUndefined();
    });

    test('are refused where they ask for something else, before anything else is looked at', async () => {
      const request = aRequest();
      await idempotent.once(request, anUpdate());
      const other = { ...request, fingerprint: 'f2' };

      for (const update of [anUpdate(), anUpdate({ versions: ['v0'] }), anUpdate({ petId: int64('44') })]) {
        await expect(idempotent.once(other, update)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
      }
    });

    test('are tried anew where they were refused', async () => {
      const request = aRequest();
      const update = anUpdate({ petId: int64('44') });
      await expect(idempotent.once(request, update)).rejects.toMatchObject(NOT_FOUND);
      await stock.put(anEntry(44, 1, 'sold'));

      expect(await idempotent.once(request, update)).toMatchObject({ entry: anEntry(44, 12, 'sold') });
    });

    test.each([
      ['a second before its day is over get the same answer', DAY_MS - 2_000, false],
      ['when its day is over are new ones', DAY_MS, true],
    ])('%s', async (_, later, isNew) => {
      const now = Date.now();
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
      const request = aRequest();
      const first = await idempotent.once(request, anUpdate());
      clock.mockReturnValue(now + later);
      const second = await idempotent.once(request, anUpdate());

      expect(second.version !== first.version).toBe(isNew);
    });

    test('at the same time get one answer, and are done once', async () => {
      const request = aRequest();
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => outcomeOf(idempotent.once(request, anUpdate()))),
      );
      const answers = outcomes.filter((outcome) => !(outcome instanceof ServiceError));
      const failures = outcomes.filter((outcome) => outcome instanceof ServiceError);
      const stored = await store.find(int64('42'));

      expect(answers.length).toBeGreaterThan(0);
      expect(answers).toEqual(answers.map(() => stored));
      expect(failures.map(({ code }) => code)).toEqual(failures.map(() => 'SERVICE_UNAVAILABLE'));
    });
  });

  test.each<[string, (missing: StockStore) => Promise<unknown>]>([
    ['an entry', (missing) => missing.find(int64('42'))],
    ['an update', (missing) => missing.update(anUpdate())],
    [
      'one with an Idempotency-Key',
      (missing) => new IdempotentUpdates(client, missing, 'x').once(aRequest(), anUpdate()),
    ],
  ])('do not call a missing table an outage: %s', async (_, call) => {
    expect(await outcomeOf(call(new StockStore(client, `missing-${randomUUID()}`)))).toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});
