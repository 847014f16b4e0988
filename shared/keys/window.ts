/** A UTC minute, as the number of whole minutes since the Unix epoch. */
export type Minute = number;

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;
export const DAY_MS = MINUTES_PER_DAY * MINUTE_MS;

/** The minute of a time (Unix milliseconds). */
export const minuteOf = (epochMs: number): Minute => Math.floor(epochMs / MINUTE_MS);

/** The first millisecond of a minute. */
export const startOfMinute = (minute: Minute): number => minute * MINUTE_MS;

/** The first millisecond after a minute. */
export const endOfMinute = (minute: Minute): number => startOfMinute(minute + 1);

/** The UTC day of a time (Unix milliseconds), such as `2026-11-21`. */
export const isoDay = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

/** The first minute of a minute's UTC day. */
export const firstMinuteOfDay = (minute: Minute): Minute => minute - (minute % MINUTES_PER_DAY);

/** The first millisecond after a minute's UTC day. */
export const endOfDay = (minute: Minute): number => startOfMinute(firstMinuteOfDay(minute) + MINUTES_PER_DAY);

export const isSameDay = (a: Minute, b: Minute): boolean => firstMinuteOfDay(a) === firstMinuteOfDay(b);
