import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { IdempotentUpdates } from '../../../shared/stores/idempotent-updates.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { anUpdate, IdempotentFixture } from '../../support/idempotent-fixture.ts';
import { anEntry } from '../../support/stock-table.ts';

acceptForeignErrors();

const NOW = Date.UTC(2026, 10, 21, 12);

describeOnEachEngine('An update with an Idempotency-Key', () => {
  let fixture: IdempotentFixture;
  let log: jest.SpiedFunction<typeof console.error>;

  beforeAll(async () => {
    fixture = await IdempotentFixture.create();
  });

  beforeEach(async () => {
    log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    await fixture.reset();
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const stored = () => fixture.stock.read('42');

  /** Updates whose call fails for good. */
  const failingAt = (...steps: string[]): IdempotentUpdates =>
    fixture.updatesWith((step) => (steps.includes(step) ? Promise.reject(new Error(step)) : Promise.resolve()));

  /** Updates of which the first is done, and then the connection breaks, once `meanwhile` has happened. */
  function breaking(meanwhile: () => Promise<unknown>): IdempotentUpdates {
    let times = 0;
    return fixture.updatesWith(async (step) => {
      if (step !== 'after stock UpdateItemCommand' || ++times > 1) return;
      await meanwhile();
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    });
  }

  const others = () => fixture.others();

  describe('whose answer from DynamoDB was lost', () => {
    test('is done once, where the SDK sends it again', async () => {
      expect(await breaking(() => Promise.resolve()).once(anUpdate(), NOW)).toMatchObject({ revision: 6 });
      expect(await stored()).toMatchObject({ quantity: 12, revision: 6 });
    });

    test('undoes nothing that others did before the SDK sent it again', async () => {
      expect(await breaking(others).once(anUpdate(), NOW)).toEqual({ kind: 'updated', entry: anEntry(42, 12) });
      expect(await stored()).toMatchObject({ quantity: 99, revision: 7 });
    });

    test('is told as stale where it asked for the version that others have replaced by then', async () => {
      expect(await breaking(others).once(anUpdate({ revisions: [5] }), NOW)).toEqual({ kind: 'stale', revision: 7 });
      expect(await stored()).toMatchObject({ quantity: 99, revision: 7 });
    });
  });

  describe('that fails', () => {
    test('can be tried again at once', async () => {
      const update = anUpdate();
      const failing = failingAt('before stock UpdateItemCommand');

      await expect(failing.once(update, NOW)).rejects.toThrow('before stock');
      expect(await fixture.updates.once(update, NOW + 1)).toMatchObject({ kind: 'updated', revision: 6 });
    });

    test('once it is done is not answered, and is found done when it comes again', async () => {
      const update = anUpdate();

      await expect(failingAt('before requests UpdateItemCommand').once(update, NOW)).rejects.toThrow('before requests');
      expect(await stored()).toMatchObject({ quantity: 12, revision: 6 });
      expect(await fixture.updates.once(update, NOW + 30_000)).toMatchObject({ kind: 'updated', revision: 6 });
    });

    test('and cannot be released says so in the log, and can be tried again once its lock is over', async () => {
      const update = anUpdate();
      const failing = failingAt('before stock UpdateItemCommand', 'before requests UpdateItemCommand');

      await expect(failing.once(update, NOW)).rejects.toThrow('before stock');
      expect(log.mock.calls).toEqual([[expect.stringMatching(/stays locked.*before requests/)]]);
      await expect(fixture.updates.once(update, NOW + 1)).rejects.toThrow(
        expect.objectContaining({ code: 'REQUEST_IN_PROGRESS' }),
      );
      expect(await fixture.updates.once(update, NOW + 30_000)).toMatchObject({ kind: 'updated', revision: 6 });
    });
  });
});
