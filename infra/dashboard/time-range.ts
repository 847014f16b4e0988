import type { LogEvent } from '../local/metrics/log-events.ts';
import { DashboardError } from './dashboard-error.ts';

/** From a time until before another, in Unix milliseconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const MINUTE_MS = 60_000;

/** A host that runs writes something at least every five minutes, when it syncs its keys. */
const PAUSE_BETWEEN_RUNS_MS = 15 * MINUTE_MS;

/**
 * What a picture shows: until the minute of the last line is over, or until `to`; from the first line of that run on, or
 * so far back as `from` says.
 *
 * @param events by time
 * @param from a time, or how many milliseconds before the end
 * @throws DashboardError where there is nothing to show
 */
export function timeRange(
  events: readonly LogEvent[],
  { from, to }: { readonly from?: From | undefined; readonly to?: number | undefined } = {},
): TimeRange {
  const times = events.map(({ at }) => at).filter((at) => to === undefined || at < to);
  const last = times.at(-1);
  if (last === undefined) throw new DashboardError('The logs tell of no request: send some first');
  const end = to ?? (Math.floor(last / MINUTE_MS) + 1) * MINUTE_MS;
  const start = from === undefined ? startOfRun(times) : startOf(from, end);
  if (start >= end) throw new DashboardError('The time from which to show is after the one until which');
  return { from: start, to: end };
}

/** A time in Unix milliseconds, or a number of milliseconds before the end. */
export type From = { readonly at: number } | { readonly before: number };

function startOf(from: From, end: number): number {
  return 'at' in from ? from.at : end - from.before;
}

function startOfRun(times: readonly number[]): number {
  const first = times.findLastIndex((time, index) => time - (times[index - 1] ?? 0) > PAUSE_BETWEEN_RUNS_MS);
  return Math.floor((times[first] ?? 0) / MINUTE_MS) * MINUTE_MS;
}
