import type { Day } from './day.ts';

/** Requests that one key has made on one usage plan, by the UTC day. */
export class DailyUsage {
  readonly #counts = new Map<Day, number>();
  #latestDay: Day = 0;

  /** The last day with a request. A clock that is set back does not open an earlier one. */
  get latestDay(): Day {
    return this.#latestDay;
  }

  on(day: Day): number {
    return this.#counts.get(day) ?? 0;
  }

  set(day: Day, count: number): void {
    this.#counts.set(day, count);
    this.#latestDay = Math.max(this.#latestDay, day);
  }

  get counts(): Iterable<readonly [day: Day, count: number]> {
    return this.#counts;
  }
}
