import { type Day, startOfPeriod } from './quota-period.ts';
import type { Quota } from './usage-plan.ts';

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

  get days(): Iterable<Day> {
    return this.#counts.keys();
  }

  /** Requests in the period of the quota that a day falls in, up to and with that day. */
  usedInPeriod(quota: Quota, day: Day): number {
    let used = 0;
    for (let counted = startOfPeriod(quota, day); counted <= day; counted++) used += this.on(counted);
    return used;
  }
}
