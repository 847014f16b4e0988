import type { AlarmDefinition } from './alarm-definition.ts';

export type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

/** What one period says: undefined where it has no data point. */
export type DataPoint = 'breaching' | 'fine' | undefined;

type Rules = Pick<AlarmDefinition, 'evaluationPeriods' | 'datapointsToAlarm' | 'missingData'>;

/**
 * How many periods before its evaluation periods an alarm looks back on where some have no data. AWS says that there are
 * some; in the example of its documentation there are two.
 */
export const EXTRA_PERIODS = 2;

/**
 * The state of an alarm by its last data points (CloudWatch user guide, "Configuring how CloudWatch alarms treat missing
 * data"): where enough are there, the last of them decide, however far apart; where not, those that are missing are
 * taken for what the alarm says, as few of them as possible.
 *
 * @param points of the evaluation periods and of {@link EXTRA_PERIODS} before them, the latest last
 * @param before the state until now
 */
export function alarmState(points: readonly DataPoint[], rules: Rules, before: AlarmState): AlarmState {
  const { evaluationPeriods, datapointsToAlarm, missingData } = rules;
  const known = points.filter((point) => point !== undefined);
  const last = known.slice(-evaluationPeriods);
  const breaching = last.filter((point) => point === 'breaching').length;
  if (breaching >= datapointsToAlarm) return 'ALARM';
  if (last.length >= evaluationPeriods) return 'OK';

  const missing = evaluationPeriods - last.length;
  const isFine = breaching < known.length;
  // The last case: every point that is there breaches, and the first of them did as many periods ago as it takes.
  const hasBreachedFor = isFine ? 0 : points.length - points.indexOf('breaching');
  const states: Readonly<Record<Rules['missingData'], AlarmState>> = {
    notBreaching: 'OK',
    breaching: breaching + missing >= datapointsToAlarm ? 'ALARM' : 'OK',
    ignore: isFine ? 'OK' : before,
    missing: hasBreachedFor >= datapointsToAlarm ? 'ALARM' : 'OK',
  };
  return missingData === 'missing' && known.length === 0 ? 'INSUFFICIENT_DATA' : states[missingData];
}
