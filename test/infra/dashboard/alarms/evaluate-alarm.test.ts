import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type AlarmState, alarmState, type DataPoint } from '../../../../infra/dashboard/alarms/evaluate-alarm.ts';

const treatments = ['missing', 'ignore', 'breaching', 'notBreaching'] as const;

/** `0` is within the threshold, `X` beyond it, `-` missing. */
const pointsOf = (text: string): DataPoint[] =>
  text.split(' ').map((point) => (point === '-' ? undefined : point === 'X' ? 'breaching' : 'fine'));

/** Stands for the state before: it is kept. */
const KEPT = 'kept';

type Row = [points: string, ...states: string[]];

const statesBefore = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] satisfies AlarmState[];

/** The state for each treatment of missing data, after each state. */
function statesOf(text: string, evaluationPeriods: number, datapointsToAlarm: number): AlarmState[][] {
  const points = pointsOf(text);
  return statesBefore.map((before) =>
    treatments.map((missingData) => alarmState(points, { evaluationPeriods, datapointsToAlarm, missingData }, before)),
  );
}

const afterEach = (states: readonly string[]): string[][] =>
  statesBefore.map((before) => states.map((state) => (state === KEPT ? before : state)));

// The tables of the CloudWatch user guide, "Configuring how CloudWatch alarms treat missing data".

describe('3 of 3 data points, missing | ignore | breaching | notBreaching', () => {
  test.each<Row>([
    ['0 - X - X', 'OK', 'OK', 'OK', 'OK'],
    ['- - - - 0', 'OK', 'OK', 'OK', 'OK'],
    ['- - - - -', 'INSUFFICIENT_DATA', KEPT, 'ALARM', 'OK'],
    ['0 X X - X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    ['- - X - -', 'ALARM', KEPT, 'ALARM', 'OK'],
  ])('%s', (points, ...states) => {
    expect(statesOf(points, 3, 3)).toEqual(afterEach(states));
  });
});

describe('2 of 3 data points, missing | ignore | breaching | notBreaching', () => {
  test.each<Row>([
    ['0 - X - X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    ['0 0 X 0 X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    ['0 - X - -', 'OK', 'OK', 'ALARM', 'OK'],
    ['- - - - 0', 'OK', 'OK', 'ALARM', 'OK'],
    ['- - - X -', 'ALARM', KEPT, 'ALARM', 'OK'],
  ])('%s', (points, ...states) => {
    expect(statesOf(points, 3, 2)).toEqual(afterEach(states));
  });
});

const count = (points: readonly DataPoint[], wanted: DataPoint): number =>
  points.filter((point) => point === wanted).length;

describe('an alarm', () => {
  const cases = fc
    .record({
      evaluationPeriods: fc.integer({ min: 1, max: 5 }),
      wanted: fc.integer({ min: 1, max: 5 }),
      given: fc.array(fc.constantFrom<DataPoint>('breaching', 'fine', undefined), { minLength: 7, maxLength: 7 }),
      before: fc.constantFrom<AlarmState>('OK', 'INSUFFICIENT_DATA'),
    })
    .map(({ evaluationPeriods, wanted, given, before }) => ({
      points: given.slice(-(evaluationPeriods + 2)),
      rules: { evaluationPeriods, datapointsToAlarm: Math.min(wanted, evaluationPeriods) },
      before,
    }));

  test.each(['ignore', 'notBreaching'] as const)(
    'that treats missing data as %s never goes off with fewer breaching data points than it asks for',
    (missingData) => {
      fc.assert(
        fc.property(cases, ({ points, rules, before }) => {
          const state = alarmState(points, { ...rules, missingData }, before);
          const isEnough = count(points, 'breaching') >= rules.datapointsToAlarm;
          expect(state !== 'ALARM' || isEnough).toBe(true);
        }),
      );
    },
  );

  test.each(['missing', 'breaching'] as const)(
    'that treats missing data as %s does not even so with the missing ones counted',
    (missingData) => {
      fc.assert(
        fc.property(cases, ({ points, rules, before }) => {
          const state = alarmState(points, { ...rules, missingData }, before);
          const most = count(points, 'breaching') + count(points, undefined);
          expect(state !== 'ALARM' || most >= rules.datapointsToAlarm).toBe(true);
        }),
      );
    },
  );

  test('whose data points are all there goes by the last of them, however it treats missing data', () => {
    const complete = fc.array(fc.constantFrom<DataPoint>('breaching', 'fine'), { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(complete, fc.constantFrom(...treatments), (points, missingData) => {
        const state = alarmState(points, { evaluationPeriods: 5, datapointsToAlarm: 3, missingData }, 'OK');
        expect(state).toBe(count(points.slice(-5), 'breaching') >= 3 ? 'ALARM' : 'OK');
      }),
    );
  });
});
