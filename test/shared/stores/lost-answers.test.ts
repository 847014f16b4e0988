import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { StockStore, type UpdateOutcome } from '../../../shared/stores/stock-store.ts';
import { updateMark } from '../../../shared/stores/stock-update.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { EmbeddedDatabase } from '../../support/embedded-database.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { FIRST_REVISION, LostAnswerTrial, type Step } from '../../support/lost-answer-trial.ts';
import { patientClient } from '../../support/patient-client.ts';
import { anEntry, StockTable } from '../../support/stock-table.ts';
import { losses, UnreliableWrites, type WriteFate } from '../../support/unreliable-writes.ts';

acceptForeignErrors();

const HOUR_MS = 3_600_000;

/** What an update asks for by its If-Match, where the entry has revision 5. */
const asked: readonly (readonly [string, readonly number[] | undefined])[] = [
  ['any version', undefined],
  ['its version', [5]],
  ['one of several versions', [4, 5, 6, 7, 8]],
];

let tokens = 0;

describeOnEachEngine('An update whose answer gets lost', () => {
  let client: DynamoDBDocumentClient;
  let stock: StockTable;
  let writes: UnreliableWrites;
  let others: StockStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    stock = await StockTable.create(client);
    await stock.put(anEntry(42), { revision: 5, updatedBy: updateMark('long-ago', Date.now() - HOUR_MS) });
    writes = new UnreliableWrites();
    others = new StockStore(client, stock.name);
  });

  /** The first write has this fate, and the others reach their end. */
  const firstIs = (fate: WriteFate, meanwhile: () => Promise<unknown> = () => Promise.resolve()): void => {
    writes.fate = () => Promise.resolve(writes.sent === 0 ? fate : 'done');
    let reads = 0;
    writes.beforeRead = async () => {
      if (reads++ === 0) await meanwhile();
    };
  };

  const update = (revisions?: readonly number[]): Promise<UpdateOutcome> =>
    new StockStore(writes.client, stock.name).update({
      petId: int64('42'),
      quantity: 12,
      token: `token-${++tokens}`,
      revisions,
    });

  const othersUpdate = (quantity = 99): Promise<UpdateOutcome> =>
    others.update({ petId: int64('42'), quantity, token: `token-${++tokens}` });

  describe.each(losses)('as %s', (_, loss) => {
    beforeEach(() => {
      writes.loss = loss;
    });

    describe.each(asked)('and which is for %s', (__, revisions) => {
      test('is found done, and not sent again', async () => {
        firstIs('answerLost');

        expect(await update(revisions)).toEqual({ kind: 'updated', entry: anEntry(42, 12), revision: 6 });
        expect(await stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
        expect(writes.sent).toBe(1);
      });

      test('is found not done, and sent again', async () => {
        firstIs('lost');

        expect(await update(revisions)).toEqual({ kind: 'updated', entry: anEntry(42, 12), revision: 6 });
        expect(await stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
        expect(writes.sent).toBe(2);
      });

      test('undoes nothing that others did after it was done, and is uncertain', async () => {
        firstIs('answerLost', othersUpdate);

        expect(await update(revisions)).toEqual({ kind: 'stale', revision: 7, uncertain: true });
        expect(await stock.read('42')).toMatchObject({ quantity: 99, revision: 7 });
      });
    });
  });

  describe.each(asked)('and which is for %s', (_, revisions) => {
    test('undoes nothing that others imported after it was done, and is uncertain', async () => {
      const revision = Date.now() * 1_000;
      firstIs('answerLost', () => stock.put(anEntry(42, 99), { revision }));

      expect(await update(revisions)).toEqual({ kind: 'stale', revision, uncertain: true });
      expect(await stock.read('42')).toMatchObject({ quantity: 99, revision });
    });

    test('is done once, where it arrives right before it is sent again', async () => {
      writes.fate = async () => {
        if (writes.sent === 0) return 'late';
        await writes.deliver();
        return 'done';
      };

      expect(await update(revisions)).toMatchObject({ kind: 'updated', revision: 6 });
      expect(await stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
    });

    test('is done once, where it arrives after it was sent again', async () => {
      firstIs('late');
      const outcome = await update(revisions);
      await writes.deliver();

      expect(outcome).toMatchObject({ kind: 'updated', revision: 6 });
      expect(await stock.read('42')).toMatchObject({ quantity: 12, revision: 6 });
    });

    test('undoes nothing, where it arrives after it was sent again and others have updated the entry', async () => {
      firstIs('late');
      const outcome = await update(revisions);
      await othersUpdate();
      await writes.deliver();

      expect(outcome).toMatchObject({ kind: 'updated', revision: 6 });
      expect(await stock.read('42')).toMatchObject({ quantity: 99, revision: 7 });
    });

    test('is uncertain, where others update the entry before it is sent again', async () => {
      writes.fate = async () => {
        if (writes.sent === 0) return 'lost';
        await othersUpdate();
        return 'done';
      };

      expect(await update(revisions)).toEqual({ kind: 'stale', revision: 6, uncertain: true });
      expect(await stock.read('42')).toMatchObject({ quantity: 99, revision: 6 });
    });

    test('finds no pet where it was deleted meanwhile', async () => {
      firstIs('lost', () => stock.delete('42'));

      expect(await update(revisions)).toEqual({ kind: 'absent' });
    });

    test('every time is 503 in the end', async () => {
      let reads = 0;
      writes.fate = () => Promise.resolve('lost');
      writes.beforeRead = () => Promise.resolve(void (reads += 1));

      await expect(update(revisions)).rejects.toThrow(
        expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } }),
      );
      expect({ sent: writes.sent, reads }).toEqual({ sent: 3, reads: 3 });
      expect(await stock.read('42')).toMatchObject({ quantity: 1, revision: 5 });
    });
  });

  test('is sent again by the SDK where it was throttled, and is certain', async () => {
    firstIs('throttled');

    expect(await update([4])).toEqual({ kind: 'stale', revision: 5, uncertain: false });
    expect(writes.sent).toBe(2);
  });

  test('leaves its token in the entry where it is sent again, beside those of nine others', async () => {
    for (let time = 0; time < 12; time++) {
      await stock.put(anEntry(42), {
        revision: 5,
        repeated: Array.from({ length: time }, (_, index) => `earlier-${index}`),
      });
      writes.sent = 0;
      firstIs('lost');
      await update();
    }
    const found = await others.find(int64('42'));

    expect(found?.repeated).toHaveLength(10);
    expect(found?.repeated?.at(-1)).toBe(`token-${tokens}`);
  });

  test('is not sent again where an unknown hand has updated the entry', async () => {
    await stock.put(anEntry(42), { revision: 5, updatedBy: 'somebody else' });
    firstIs('lost');

    expect(await update()).toMatchObject({ kind: 'stale', uncertain: true });
  });

  test('is 503 where nothing can be found out', async () => {
    firstIs('answerLost', () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })));
    writes.beforeRead = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }));

    await expect(update()).rejects.toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    expect(writes.sent).toBe(1);
  });
});

describe('An update, whatever gets lost and whatever others do,', () => {
  new EmbeddedDatabase();
  const step: fc.Arbitrary<Step> = fc.record({
    before: fc.array(fc.constantFrom('update', 'update', 'import', 'deliver', 'deliver'), { maxLength: 3 }),
    fate: fc.constantFrom<WriteFate>('done', 'answerLost', 'lost', 'late'),
  });
  const ifMatch = fc.constantFrom(
    undefined,
    undefined,
    [FIRST_REVISION],
    Array.from({ length: 9 }, (_, index) => FIRST_REVISION - 1 + index),
  );

  let client: DynamoDBDocumentClient;
  let table: StockTable;

  beforeAll(async () => {
    client = patientClient();
    table = await StockTable.create(client);
  });

  test('is done at most once, and done where it is acknowledged', async () => {
    await fc.assert(
      fc.asyncProperty(ifMatch, fc.array(step, { maxLength: 9 }), async (revisions, steps) => {
        const trial = await LostAnswerTrial.run(client, table, revisions, steps);
        expect(trial.violations).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });
});
