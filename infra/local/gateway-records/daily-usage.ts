/** A UTC day, as the number of whole days since the Unix epoch. */
export type Day = number;

const DAY_MS = 86_400_000;

/** The day that a time (Unix milliseconds) falls in. */
export const dayOf = (epochMs: number): Day => Math.floor(epochMs / DAY_MS);

/** The day as `yyyy-MM-dd`. */
export const dateOf = (day: Day): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** The day of a date `yyyy-MM-dd`; undefined for what is none. */
export function parseDate(text: string): Day | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) / DAY_MS : Number.NaN;
  // The parser takes February 30th for a day in March.
  return Number.isNaN(day) || dateOf(day) !== text ? undefined : day;
}

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
