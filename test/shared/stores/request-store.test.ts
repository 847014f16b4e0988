import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { type RememberedRequest, RequestStore } from '../../../shared/stores/request-store.ts';
import type { UpdateOutcome } from '../../../shared/stores/stock-store.ts';
import { describeOnEachEngine, pointSdkAt } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { MAX_INT64 } from '../../support/int64.ts';
import { freePort } from '../../support/listening.ts';
import { patientClient } from '../../support/patient-client.ts';
import { anEntry } from '../../support/stock-table.ts';
import { createRequestsTable } from '../../support/tables.ts';

acceptForeignErrors();

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 900);
const DAY = 86_400_000;
const LOCK = NOW + 30_000;

const REQUEST = { requestId: 'r1', fingerprint: 'f1', lockedUntil: LOCK, baseRevision: 5 };
const OPEN: RememberedRequest = { ...REQUEST, outcome: undefined };

const updated: UpdateOutcome = { kind: 'updated', entry: anEntry(MAX_INT64, 7, 'pending'), revision: 6 };

describe('The request store, where DynamoDB is out of reach', () => {
  test.each<[string, (store: RequestStore) => Promise<unknown>]>([
    ['begins nothing', (store) => store.begin(REQUEST, NOW)],
    ['takes nothing over', (store) => store.takeOver(OPEN, LOCK + 1)],
    ['moves nothing on', (store) => store.rebase('r1', LOCK, 6)],
    ['keeps nothing', (store) => store.complete('r1', updated)],
    ['releases nothing', (store) => store.release('r1', LOCK)],
  ])('%s and says so', async (_, call) => {
    pointSdkAt(await freePort());
    const store = new RequestStore(documentClient({ maxAttempts: 1, requestTimeout: 1_000 }), 'requests');

    await expect(call(store)).rejects.toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', status: 503 }));
  });
});

describeOnEachEngine('The request store', () => {
  let client: DynamoDBDocumentClient;
  let tableName = '';
  let store: RequestStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    tableName = await createRequestsTable(client);
    store = new RequestStore(client, tableName);
  });

  /** The request as it is remembered, found by sending it once more. */
  const remembered = () => store.begin(REQUEST, NOW + 1);

  describe('begins', () => {
    test('a request that is new', async () => {
      expect(await store.begin(REQUEST, NOW)).toBeUndefined();
      expect(await remembered()).toEqual(OPEN);
    });

    test('one for a pet that is not there', async () => {
      await store.begin({ ...REQUEST, baseRevision: undefined }, NOW);

      expect(await remembered()).toEqual({ ...OPEN, baseRevision: undefined });
    });

    test('one of many that come at the same time', async () => {
      const tries = Array.from({ length: 20 }, (_, index) =>
        store.begin({ ...REQUEST, fingerprint: `f${index}`, lockedUntil: LOCK + index }, NOW),
      );
      const answers = await Promise.all(tries);
      const first = answers.find((answer) => answer !== undefined);

      expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
      expect(answers.filter((answer) => answer?.fingerprint === first?.fingerprint)).toHaveLength(19);
    });

    test('none that is remembered already, whatever it asks for', async () => {
      await store.begin(REQUEST, NOW);

      expect(await store.begin({ ...REQUEST, fingerprint: 'f2', baseRevision: 9 }, NOW)).toEqual(OPEN);
      expect(await remembered()).toEqual(OPEN);
    });

    test('a request of another key beside it', async () => {
      await store.begin(REQUEST, NOW);

      expect(await store.begin({ ...REQUEST, requestId: 'r2' }, NOW)).toBeUndefined();
    });

    test('anew once a day is over, and with nothing left of what was before', async () => {
      await store.begin(REQUEST, NOW);
      await store.complete('r1', updated);

      expect(await store.begin({ ...REQUEST, fingerprint: 'f2' }, NOW + DAY - 1_000)).toMatchObject({
        outcome: updated,
      });
      expect(await store.begin({ ...REQUEST, fingerprint: 'f2', baseRevision: undefined }, NOW + DAY)).toBeUndefined();
      expect(await store.begin(REQUEST, NOW + DAY)).toEqual({
        ...OPEN,
        fingerprint: 'f2',
        baseRevision: undefined,
      });
    });

    test('with the time at which DynamoDB may delete it, in Unix seconds', async () => {
      await store.begin(REQUEST, NOW);
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: { requestId: 'r1' } }));

      expect(Item?.expiresAt).toMatchObject({ value: String(Date.UTC(2026, 10, 22, 12) / 1_000) });
    });
  });

  describe('takes a request over', () => {
    beforeEach(() => store.begin(REQUEST, NOW));

    test('for as long as it is told', async () => {
      expect(await store.takeOver(OPEN, LOCK + 1)).toBe(true);
      expect(await remembered()).toEqual({ ...OPEN, lockedUntil: LOCK + 1 });
    });

    test('for one of many that want it', async () => {
      const tries = Array.from({ length: 20 }, (_, index) => store.takeOver(OPEN, LOCK + 1 + index));

      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    });

    test('for a pet that was not there', async () => {
      const ofNone = { ...REQUEST, requestId: 'r2', baseRevision: undefined };
      await store.begin(ofNone, NOW);

      expect(await store.takeOver({ ...ofNone, outcome: undefined }, LOCK + 1)).toBe(true);
    });

    test.each<[string, RememberedRequest, () => Promise<unknown>]>([
      ['that somebody else has taken over', OPEN, () => store.takeOver(OPEN, LOCK + 1)],
      ['that moved on to a later version meanwhile', OPEN, () => store.rebase('r1', LOCK, 6)],
      ['that moved on from there being no pet', { ...OPEN, baseRevision: undefined }, () => Promise.resolve()],
      ['that is done', OPEN, () => store.complete('r1', updated)],
      ['that is not remembered', { ...OPEN, requestId: 'r2' }, () => Promise.resolve()],
    ])('but none %s', async (_, request, meanwhile) => {
      await meanwhile();

      expect(await store.takeOver(request, LOCK + 2)).toBe(false);
    });
  });

  describe('moves a request on to a later version', () => {
    beforeEach(() => store.begin(REQUEST, NOW));

    test('for whoever is at work on it', async () => {
      expect(await store.rebase('r1', LOCK, 6)).toBe(true);
      expect(await remembered()).toEqual({ ...OPEN, baseRevision: 6 });
    });

    test.each<[string, () => Promise<unknown>]>([
      ['has taken it over', () => store.takeOver(OPEN, LOCK + 1)],
      ['has released it', () => store.release('r1', LOCK)],
      ['has completed it', () => store.complete('r1', updated)],
    ])('but not once somebody %s', async (_, meanwhile) => {
      await meanwhile();

      expect(await store.rebase('r1', LOCK, 6)).toBe(false);
      expect(await remembered()).toMatchObject({ baseRevision: 5 });
    });
  });

  describe('keeps what came of a request', () => {
    beforeEach(() => store.begin(REQUEST, NOW));

    test.each<[string, UpdateOutcome]>([
      ['an update', updated],
      ['an update whose version is gone', { kind: 'updated', entry: anEntry(1) }],
      ['another version than was asked for', { kind: 'stale', revision: 9 }],
      ['no such pet', { kind: 'absent' }],
    ])('as it was: %s', async (_, outcome) => {
      expect(await store.complete('r1', outcome)).toEqual(outcome);
      expect(await remembered()).toEqual({ ...OPEN, outcome });
    });

    test('which is what was kept first, whoever comes later', async () => {
      await store.complete('r1', updated);

      expect(await store.complete('r1', { kind: 'absent' })).toEqual(updated);
      expect(await remembered()).toMatchObject({ outcome: updated });
    });

    test('of many at once one, which all are told', async () => {
      const outcomes = Array.from({ length: 20 }, (_, index): UpdateOutcome => ({ kind: 'stale', revision: index }));
      const kept = await Promise.all(outcomes.map((outcome) => store.complete('r1', outcome)));

      expect(new Set(kept.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
      expect(await remembered()).toMatchObject({ outcome: kept[0] });
    });

    test('but nothing of one that is not remembered, which it tells nobody', async () => {
      expect(await store.complete('r2', updated)).toEqual(updated);
      expect(await store.begin({ ...REQUEST, requestId: 'r2' }, NOW)).toBeUndefined();
    });
  });

  describe('releases a request', () => {
    beforeEach(() => store.begin(REQUEST, NOW));

    test('so that it can be taken over at once', async () => {
      await store.release('r1', LOCK);

      expect(await remembered()).toMatchObject({ lockedUntil: 0 });
    });

    test('but none that somebody else is at work on', async () => {
      await store.takeOver(OPEN, LOCK + 1);
      await store.release('r1', LOCK);

      expect(await remembered()).toMatchObject({ lockedUntil: LOCK + 1 });
    });
  });
});
