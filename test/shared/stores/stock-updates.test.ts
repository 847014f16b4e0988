import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { StockStore, type StockUpdate } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { patientClient } from '../../support/patient-client.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';

acceptForeignErrors();

let tokens = 0;

const anUpdate = (differences: Partial<StockUpdate> = {}): StockUpdate => ({
  petId: int64('42'),
  quantity: 12,
  token: `token-${++tokens}`,
  ...differences,
});

/** A client that the connection breaks for, once an update has been done and `meanwhile` has happened. */
function breakingClient(meanwhile: () => Promise<unknown>): DynamoDBDocumentClient {
  const breaking = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });
  let updates = 0;
  breaking.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName !== 'UpdateItemCommand' || ++updates > 1) return answer;
        await meanwhile();
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
      },
    { step: 'finalizeRequest', priority: 'low' },
  );
  return breaking;
}

describeOnEachEngine('An update of the stock', () => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let store: StockStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    stock = await StockTable.create(client);
    store = new StockStore(client, stock.name);
  });

  describe('sets the quantity', () => {
    test.each(['42', '-7', '9007199254740993', MAX_INT64, MIN_INT64])(
      'of pet %s and answers with the entry',
      async (petId) => {
        await stock.put(anEntry(petId), { revision: 5 });

        expect(await store.update(anUpdate({ petId: int64(petId) }))).toEqual({
          kind: 'updated',
          entry: anEntry(petId, 12),
          revision: 6,
        });
        expect(await stock.read(petId)).toMatchObject({ quantity: 12, revision: 6 });
      },
    );

    test.each(['available', 'pending', 'sold'] as const)('and leaves the status %s', async (status) => {
      await stock.put(anEntry(42, 1, status));

      expect(await store.update(anUpdate({ quantity: 0 }))).toMatchObject({ entry: anEntry(42, 0, status) });
    });

    test('of the one pet and no other', async () => {
      await stock.putAll([anEntry(41), anEntry(42), anEntry(43)]);
      await store.update(anUpdate({ quantity: 9 }));

      expect((await store.page({}, 10)).entries).toEqual([anEntry(41), anEntry(42, 9), anEntry(43)]);
    });

    test('of no pet that it does not know, and creates none', async () => {
      await stock.put(anEntry('9007199254740992'));

      expect(await store.update(anUpdate({ petId: int64('9007199254740993') }))).toEqual({ kind: 'absent' });
      expect((await store.page({}, 10)).entries).toEqual([anEntry('9007199254740992')]);
    });

    test('for each of many at once, and keeps the one that came last', async () => {
      await stock.put(anEntry(42, 1, 'pending'));
      const quantities = Array.from({ length: 30 }, (_, index) => 100 + index);
      const outcomes = await Promise.all(quantities.map((quantity) => store.update(anUpdate({ quantity }))));
      const revisions = outcomes.map((outcome) => (outcome.kind === 'updated' ? outcome.revision : undefined));
      const last = outcomes.find((outcome) => outcome.kind === 'updated' && outcome.revision === 30);

      expect(outcomes).toMatchObject(quantities.map((quantity) => ({ entry: anEntry(42, quantity, 'pending') })));
      expect(new Set(revisions)).toEqual(new Set(quantities.map((_, index) => index + 1)));
      expect(last).toMatchObject({ entry: { quantity: (await stock.read('42'))?.quantity } });
    });

    test('with one write and no read', async () => {
      await stock.put(anEntry(42));
      const watched = patientClient();
      const calls = recordCalls(watched);
      await new StockStore(watched, stock.name).update(anUpdate());

      expect(calls).toMatchObject([{ command: 'UpdateItemCommand', consumed: { CapacityUnits: 1 } }]);
    });
  });

  describe('counts the revision up by one', () => {
    test('with every update', async () => {
      await stock.put(anEntry(42), { revision: 5 });

      expect(await store.update(anUpdate())).toMatchObject({ revision: 6 });
      expect(await store.update(anUpdate())).toMatchObject({ revision: 7 });
    });

    test('also from none, as an entry has that was put in by other means', async () => {
      await stock.put(anEntry(42));

      expect(await store.update(anUpdate())).toMatchObject({ revision: 1 });
    });

    test('though the quantity is the same', async () => {
      await stock.put(anEntry(42, 12), { revision: 5 });

      expect(await store.update(anUpdate({ quantity: 12 }))).toMatchObject({ revision: 6 });
    });

    test('after an import too, which gives another revision', async () => {
      await stock.put(anEntry(42), { revision: 5 });
      await store.update(anUpdate());
      await stock.put(anEntry(42, 3), { revision: 1_700_000_000_000_000 });

      expect(await store.update(anUpdate())).toMatchObject({ revision: 1_700_000_000_000_001 });
    });
  });

  describe('of certain versions', () => {
    test.each<[string, number[]]>([
      ['the one there is', [5]],
      ['one of several', [3, 4, 5]],
      ['one named twice', [5, 5]],
      ['one of as many as there may be', Array.from({ length: 20 }, (_, index) => index)],
    ])('is done where the entry is %s', async (_, revisions) => {
      await stock.put(anEntry(42), { revision: 5 });

      expect(await store.update(anUpdate({ revisions }))).toEqual({
        kind: 'updated',
        entry: anEntry(42, 12),
        revision: 6,
      });
    });

    test.each<[string, number[]]>([
      ['an older one', [4]],
      ['a later one', [6]],
      ['several others', [3, 4, 6, 7]],
      ['the one that other entries begin with', [0]],
      ['none at all', []],
    ])('is refused where they are %s, and tells which one there is', async (_, revisions) => {
      await stock.put(anEntry(42), { revision: 5, updatedBy: 'somebody else' });

      expect(await store.update(anUpdate({ revisions }))).toMatchObject({ kind: 'stale', revision: 5 });
      expect(await stock.read('42')).toEqual({
        quantity: 1,
        status: 'available',
        revision: 5,
        updatedBy: 'somebody else',
      });
    });

    test.each([[[5]], [[0]], [[0, 5]], [[]]])('finds no pet where there is none: %j', async (revisions) => {
      expect(await store.update(anUpdate({ revisions }))).toEqual({ kind: 'absent' });
      expect(await stock.read('42')).toBeUndefined();
    });

    test.each([[[0]], [[7, 0]]])('takes an entry without a revision for 0: %j', async (revisions) => {
      await stock.put(anEntry(42));

      expect(await store.update(anUpdate({ revisions }))).toMatchObject({ kind: 'updated', revision: 1 });
      expect(await store.update(anUpdate({ revisions }))).toMatchObject({ kind: 'stale', revision: 1 });
    });

    test('refuses an entry without a revision where another one was asked for', async () => {
      await stock.put(anEntry(42));

      expect(await store.update(anUpdate({ revisions: [1] }))).toMatchObject({ kind: 'stale', revision: 0 });
    });

    test('is refused after an import, whatever it brought', async () => {
      await stock.put(anEntry(42), { revision: 1_700_000_000_000_000 });
      await stock.put(anEntry(42), { revision: 1_700_000_000_000_999 });

      expect(await store.update(anUpdate({ revisions: [1_700_000_000_000_000] }))).toMatchObject({ kind: 'stale' });
    });

    test('is done by one of many at once, and by no other', async () => {
      await stock.put(anEntry(42), { revision: 5 });
      const updates = Array.from({ length: 20 }, (_, index) => anUpdate({ quantity: index, revisions: [5] }));
      const outcomes = await Promise.all(updates.map((update) => store.update(update)));

      expect(outcomes.filter(({ kind }) => kind === 'updated')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome.kind === 'stale' && outcome.revision === 6)).toHaveLength(19);
    });
  });

  describe('whose answer was lost', () => {
    test('is known again by its token, and not done twice', async () => {
      await stock.put(anEntry(42), { revision: 5 });
      const update = anUpdate({ revisions: [5] });
      await store.update(update);

      expect(await store.update(update)).toEqual({ kind: 'updated', entry: anEntry(42, 12), revision: 6 });
      expect(await stock.read('42')).toMatchObject({ revision: 6 });
    });

    test('is done once, where the SDK sends it again', async () => {
      await stock.put(anEntry(42), { revision: 5 });
      const breaking = new StockStore(
        breakingClient(() => Promise.resolve()),
        stock.name,
      );

      expect(await breaking.update(anUpdate({ revisions: [5] }))).toEqual({
        kind: 'updated',
        entry: anEntry(42, 12),
        revision: 6,
      });
    });

    test('and which others have replaced since, is refused as uncertain', async () => {
      await stock.put(anEntry(42), { revision: 5 });
      const others = () => store.update(anUpdate({ quantity: 99 }));
      const breaking = new StockStore(breakingClient(others), stock.name);

      expect(await breaking.update(anUpdate({ revisions: [5] }))).toEqual({
        kind: 'stale',
        revision: 7,
        uncertain: true,
      });
      expect(await stock.read('42')).toMatchObject({ quantity: 99, revision: 7 });
    });
  });

  test('that was sent once and is refused is certain', async () => {
    await stock.put(anEntry(42), { revision: 5 });

    expect(await store.update(anUpdate({ revisions: [4] }))).toMatchObject({ uncertain: false });
  });
});
