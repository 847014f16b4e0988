import type { MetricStore } from '../../local/metrics/metric-store.ts';
import { MetricMath } from '../metric-math.ts';
import type { TimeRange } from '../time-range.ts';
import type { AlarmDefinition } from './alarm-definition.ts';
import { type AlarmState, alarmState, type DataPoint, EXTRA_PERIODS } from './evaluate-alarm.ts';

/** How often CloudWatch looks at an alarm. */
const EVALUATION_MS = 60_000;

/** An alarm at the end of a time range. */
export interface AlarmStatus {
  readonly name: string;
  readonly description: string;
  /** `NOT_MEASURED`: it watches what a local run does not tell. */
  readonly state: AlarmState | 'NOT_MEASURED';
  /** Unix milliseconds; undefined where it has not changed since the range began. */
  readonly since: number | undefined;
  /** The last data point. */
  readonly value: number | undefined;
  readonly threshold: number;
  /** Metrics that a local run does not tell. */
  readonly notMeasured: readonly string[];
}

/** Evaluates an alarm every minute of a range, as each state may rest on the one before. */
export function alarmStatus(alarm: AlarmDefinition, store: MetricStore, { from, to }: TimeRange): AlarmStatus {
  const { name, description, threshold } = alarm;
  const math = new MetricMath(store, alarm.queries);
  const notMeasured = math.notMeasured(alarm.returned);
  const identity = { name, description, threshold, notMeasured };
  if (notMeasured.length > 0) return { ...identity, state: 'NOT_MEASURED', since: undefined, value: undefined };

  let state: AlarmState = 'INSUFFICIENT_DATA';
  let since: number | undefined;
  let value: number | undefined;
  for (let at = ceilTo(from, EVALUATION_MS); at <= to; at += EVALUATION_MS) {
    const points = pointsAt(at, alarm, math);
    const next = alarmState(points.map(pointOf), alarm, state);
    if (next !== state) since = at;
    state = next;
    value = points.at(-1);
  }
  return { ...identity, state, since, value };

  function pointOf(point: number | undefined): DataPoint {
    if (point === undefined) return undefined;
    return alarm.breaches(point) ? 'breaching' : 'fine';
  }
}

/** The data points that end at a time: the window slides with each evaluation. */
function pointsAt(at: number, { period, evaluationPeriods, returned }: AlarmDefinition, math: MetricMath) {
  const periodMs = period * 1_000;
  const count = evaluationPeriods + EXTRA_PERIODS;
  return math.series(returned, { start: at - count * periodMs, periodMs, count });
}

function ceilTo(time: number, step: number): number {
  return Math.ceil(time / step) * step;
}
