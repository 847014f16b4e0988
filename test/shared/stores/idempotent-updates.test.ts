import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { IdempotentUpdate } from '../../../shared/stores/idempotent-updates.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { anUpdate, IdempotentFixture } from '../../support/idempotent-fixture.ts';
import { int64 } from '../../support/int64.ts';
import { anEntry } from '../../support/stock-table.ts';

acceptForeignErrors();

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY = 86_400_000;

const inProgress = expect.objectContaining({
  code: 'REQUEST_IN_PROGRESS',
  status: 409,
  headers: { 'Retry-After': '1' },
});
const reused = expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED', status: 422 });

describeOnEachEngine('An update with an Idempotency-Key', () => {
  let fixture: IdempotentFixture;

  beforeAll(async () => {
    fixture = await IdempotentFixture.create();
  });

  beforeEach(() => fixture.reset());

  const once = (update: IdempotentUpdate, now = NOW) => fixture.updates.once(update, now);

  describe('is done', () => {
    test('as one without it is', async () => {
      expect(await once(anUpdate())).toEqual({ kind: 'updated', entry: anEntry(42, 12), revision: 6 });
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
    });

    test('of an entry that was put in by other means, and has no revision', async () => {
      await fixture.stock.put(anEntry(43));

      expect(await once(anUpdate({ petId: int64('43') }))).toMatchObject({ kind: 'updated', revision: 1 });
    });

    test('for each of several keys', async () => {
      expect(await once(anUpdate())).toMatchObject({ revision: 6 });
      expect(await once(anUpdate())).toMatchObject({ revision: 7 });
    });

    test('for each of several keys at the same time', async () => {
      const four = [1, 2, 3, 4].map((quantity) => once(anUpdate({ quantity })));

      expect((await Promise.all(four)).map(({ kind }) => kind)).toEqual(four.map(() => 'updated'));
      expect(await fixture.stock.read('42')).toMatchObject({ revision: 9 });
    });

    test('though others update the entry right before', async () => {
      expect(await fixture.overtaken(3).once(anUpdate(), NOW)).toMatchObject({ kind: 'updated', revision: 9 });
    });

    test('for a version that is asked for', async () => {
      expect(await once(anUpdate({ revisions: [4, 5] }))).toMatchObject({ kind: 'updated', revision: 6 });
    });
  });

  describe('is not done', () => {
    test('for another version than is asked for', async () => {
      expect(await once(anUpdate({ revisions: [4] }))).toEqual({ kind: 'stale', revision: 5 });
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 1, revision: 5 });
    });

    test('for a version that others replace right before', async () => {
      expect(await fixture.overtaken().once(anUpdate({ revisions: [5] }), NOW)).toEqual({ kind: 'stale', revision: 6 });
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 99 });
    });

    test('for a pet that is not there', async () => {
      expect(await once(anUpdate({ petId: int64('43') }))).toEqual({ kind: 'absent' });
      expect(await fixture.stock.read('43')).toBeUndefined();
    });

    test('for a pet that goes right before', async () => {
      const deleting = fixture.updatesWith(async (step) => {
        if (step === 'before stock UpdateItemCommand') await fixture.stock.delete('42');
      });

      expect(await deleting.once(anUpdate(), NOW)).toEqual({ kind: 'absent' });
      expect(await fixture.stock.read('42')).toBeUndefined();
    });
  });

  describe('that comes again is answered as the first time', () => {
    test.each<[string, Partial<IdempotentUpdate>]>([
      ['an update', {}],
      ['an update of a certain version', { revisions: [5] }],
      ['another version', { revisions: [4] }],
      ['no such pet', { petId: int64('43') }],
    ])('%s, whatever others do since', async (_, differences) => {
      const update = anUpdate(differences);
      const outcome = await once(update);
      await fixture.others();
      await fixture.stock.put(anEntry(43));

      expect(await once(update, NOW + 1_000)).toEqual(outcome);
      expect(await once(update, NOW + DAY - 1_000)).toEqual(outcome);
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 99 });
    });

    test('though the entry is gone', async () => {
      const update = anUpdate();
      const outcome = await once(update);
      await fixture.stock.delete('42');

      expect(await once(update, NOW + 1_000)).toEqual(outcome);
    });

    test('until a day is over, and is then done anew', async () => {
      const update = anUpdate();
      await once(update);
      await fixture.others();

      expect(await once(update, NOW + DAY)).toMatchObject({ kind: 'updated', revision: 8 });
    });

    test('and may then ask for something else', async () => {
      const update = anUpdate();
      await once(update);

      expect(await once({ ...update, quantity: 13, fingerprint: 'f2' }, NOW + DAY)).toMatchObject({
        entry: anEntry(42, 13),
        revision: 7,
      });
    });
  });

  describe('that asks for something else is 422', () => {
    const other = { quantity: 13, fingerprint: 'f2' };

    test('once the first has been answered', async () => {
      const update = anUpdate();
      await once(update);

      await expect(once({ ...update, ...other }, NOW + 1)).rejects.toThrow(reused);
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
    });

    test('while the first is at work, and once it was cut off', async () => {
      const update = anUpdate();
      await fixture.beginOnly(update, NOW + 30_000, NOW);

      await expect(once({ ...update, ...other }, NOW + 1)).rejects.toThrow(reused);
      await expect(once({ ...update, ...other }, NOW + 60_000)).rejects.toThrow(reused);
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 1, revision: 5 });
    });
  });

  describe('whose first try is at work', () => {
    test('is 409 until that one is surely gone, and then goes on', async () => {
      const update = anUpdate();
      await fixture.beginOnly(update, NOW + 30_000, NOW);

      await expect(once(update, NOW + 29_999)).rejects.toThrow(inProgress);
      expect(await once(update, NOW + 30_000)).toMatchObject({ kind: 'updated', revision: 6 });
    });

    test('is done once, however often it comes at the same time', async () => {
      const update = anUpdate();
      const answers = await Promise.allSettled(Array.from({ length: 20 }, () => once(update)));
      const outcomes = answers.filter(({ status }) => status === 'fulfilled');
      const refusals = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason);

      expect(outcomes.length).toBeGreaterThan(0);
      expect(outcomes).toEqual(outcomes.map(() => outcomes[0]));
      expect(refusals).toEqual(refusals.map(() => inProgress));
      expect(await fixture.stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
    });

    test('goes on by one of many that come once that one is gone', async () => {
      const update = anUpdate();
      await fixture.beginOnly(update, NOW + 30_000, NOW);
      await Promise.allSettled(Array.from({ length: 20 }, () => once(update, NOW + 31_000)));

      expect(await once(update, NOW + 62_000)).toMatchObject({ kind: 'updated', revision: 6 });
      expect(await fixture.stock.read('42')).toMatchObject({ revision: 6 });
    });
  });
});
