import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { EmbeddedDatabase } from '../../support/embedded-database.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { anUpdate, IdempotentFixture } from '../../support/idempotent-fixture.ts';
import {
  type Action,
  FIRST_REVISION,
  IdempotentTrial,
  REQUESTED,
  TrialTables,
} from '../../support/idempotent-trial.ts';
import { type Fate, fates } from '../../support/stepped-calls.ts';
import { anEntry } from '../../support/stock-table.ts';

acceptForeignErrors();
new EmbeddedDatabase();

let tables: TrialTables;

beforeAll(async () => {
  tables = await TrialTables.create();
});

afterAll(() => tables.stepped.client.destroy());

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** The calls of a request that meets with nothing, in their order. */
const calls = ['reading the entry', 'remembering the request', 'updating the entry', 'keeping the outcome'];

/** So many calls of the first try go on their way, or of the second. */
const calling = (count: number, which = 0): Action[] =>
  Array.from({ length: count }, () => ({ kind: 'step', which, fate: 'done' }));

describe.each<[string, readonly number[] | undefined]>([
  ['without If-Match', undefined],
  ['with If-Match', [FIRST_REVISION]],
])('A request with an Idempotency-Key, %s,', (_, revisions) => {
  describe.each(calls.map((call, index): [string, number] => [call, index]))('for which %s', (_call, index) => {
    const before = calling(index);

    test.each<[string, Fate]>([
      ['fails', 'refused'],
      ['succeeds, but the answer is lost', 'lost'],
      ['is never begun, as the function ends', 'cut'],
      ['is the last thing that the function does', 'cutAfter'],
    ])('%s, takes effect once, and is answered when it comes again', async (_fate, fate) => {
      const fault: Action = { kind: 'step', which: 0, fate };
      const trial = await IdempotentTrial.run(tables, revisions, [{ kind: 'try' }, ...before, fault]);

      expect(trial.violations).toEqual([]);
      expect(trial.ourVersions).toEqual([{ revision: FIRST_REVISION + 1, quantity: REQUESTED, ours: true }]);
      expect(trial.answers.at(-1)?.outcome).toMatchObject({ kind: 'updated', revision: FIRST_REVISION + 1 });
    });

    test.each<[string, Fate]>([
      ['fails', 'refused'],
      ['succeeds, but the answer is lost', 'lost'],
      ['is never begun, as the function ends', 'cut'],
      ['is the last thing that the function does', 'cutAfter'],
    ])('%s, undoes nothing that others do before it comes again', async (_fate, fate) => {
      const fault: Action = { kind: 'step', which: 0, fate };
      const trial = await IdempotentTrial.run(tables, revisions, [
        { kind: 'try' },
        ...before,
        fault,
        { kind: 'finish', which: 0 },
        { kind: 'other' },
      ]);

      expect(trial.violations).toEqual([]);
      const begun = index > 1 || (index === 1 && (fate === 'lost' || fate === 'cutAfter'));
      expect(trial.versions.at(-1)).toMatchObject({ ours: !begun && revisions === undefined });
    });
  });
});

describe('A try of a request that is slower than its lock', () => {
  const locked: Action[] = [{ kind: 'wait', seconds: 31 }, { kind: 'try' }];

  test.each<[string, Action[], number]>([
    ['before it has updated the entry', [...calling(2), ...locked, { kind: 'finish', which: 1 }], 1],
    ['after it has updated the entry', [...calling(3), ...locked, { kind: 'finish', which: 1 }], 1],
    [
      'before it has updated the entry, as others do',
      [...calling(2), { kind: 'other' }, ...locked, { kind: 'finish', which: 1 }],
      0,
    ],
    [
      'after it has updated the entry, as others do',
      [...calling(3), { kind: 'other' }, ...locked, { kind: 'finish', which: 1 }],
      1,
    ],
  ])('is answered as the one that went on with it %s', async (_, actions, effects) => {
    const trial = await IdempotentTrial.run(tables, undefined, [{ kind: 'try' }, ...actions, { kind: 'other' }]);

    expect(trial.violations).toEqual([]);
    expect(trial.ourVersions).toHaveLength(effects);
  });

  test('but still moves on to a later version of the entry keeps others from going on with it', async () => {
    const readsAndRemembers = calling(2);
    const findsAnotherVersion = calling(2);
    const movesOn = calling(1);
    const findsItLocked = calling(3, 1);
    const trial = await IdempotentTrial.run(tables, undefined, [
      { kind: 'try' },
      ...readsAndRemembers,
      { kind: 'other' },
      ...findsAnotherVersion,
      ...locked,
      ...findsItLocked,
      ...movesOn,
      { kind: 'finish', which: 1 },
    ]);

    expect(trial.violations).toEqual([]);
    expect(trial.errors).toMatchObject([{ code: 'REQUEST_IN_PROGRESS' }]);
    expect(trial.ourVersions).toHaveLength(1);
  });
});

function actionWith(fate: fc.Arbitrary<Fate>): fc.Arbitrary<Action> {
  const which = fc.nat({ max: 3 });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<Action>({ kind: 'try' }) },
    { weight: 9, arbitrary: fc.record({ kind: fc.constant('step'), which, fate: fc.constant('done') }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('step'), which, fate }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('finish'), which }) },
    { weight: 3, arbitrary: fc.constant<Action>({ kind: 'other' }) },
    { weight: 1, arbitrary: fc.constant<Action>({ kind: 'import' }) },
    { weight: 2, arbitrary: fc.constantFrom<Action>({ kind: 'wait', seconds: 10 }, { kind: 'wait', seconds: 31 }) },
  );
}

describe('A request with an Idempotency-Key, whatever goes wrong,', () => {
  const actions = fc.array(actionWith(fc.constantFrom(...fates)), { minLength: 5, maxLength: 40 });
  const ifMatch = fc.constantFrom(undefined, [FIRST_REVISION], [FIRST_REVISION, FIRST_REVISION + 1], [1]);

  test('takes effect at most once, undoes nothing, and is always answered the same', async () => {
    await fc.assert(
      fc.asyncProperty(actions, ifMatch, async (script, revisions) => {
        const trial = await IdempotentTrial.run(tables, revisions, [{ kind: 'try' }, ...script]);
        expect(trial.violations).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('takes effect, where others only come between', async () => {
    const peaceful = fc.array(actionWith(fc.constant('done')).filter(({ kind }) => kind !== 'wait'));
    await fc.assert(
      fc.asyncProperty(peaceful, async (script) => {
        const trial = await IdempotentTrial.run(tables, undefined, [{ kind: 'try' }, ...script]);
        expect(trial.ourVersions).toHaveLength(1);
        expect(trial.violations).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});

test('A request that others overtake without end is 503, and has then been overtaken by them', async () => {
  const fixture = await IdempotentFixture.create();
  await fixture.reset();
  const update = anUpdate();
  const overtaken = fixture.overtaken();

  await expect(overtaken.once(update, 0)).rejects.toThrow(
    expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } }),
  );
  expect(await overtaken.once(update, 1)).toEqual({ kind: 'updated', entry: anEntry(42, 12) });
});
