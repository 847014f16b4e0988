/** A UTC clock minute, as the number of whole minutes since the Unix epoch. */
export type Minute = number;

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;

/** The minute that a time (Unix milliseconds) falls in. */
export const minuteOf = (epochMs: number): Minute => Math.floor(epochMs / MINUTE_MS);

/** The first millisecond after a minute. */
export const endOfMinute = (minute: Minute): number => (minute + 1) * MINUTE_MS;

/** The first millisecond after the UTC day that a minute belongs to. */
export const endOfDay = (minute: Minute): number => (dayOf(minute) + 1) * MINUTES_PER_DAY * MINUTE_MS;

export const isSameDay = (a: Minute, b: Minute): boolean => dayOf(a) === dayOf(b);

const dayOf = (minute: Minute): number => Math.floor(minute / MINUTES_PER_DAY);
