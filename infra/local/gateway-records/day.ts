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
