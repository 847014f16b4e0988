const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * An ISO 8601 date (its first moment in UTC), or a date with time and zone, as Unix milliseconds. NaN for any other
 * text: without a zone a time would mean something else on each computer.
 */
export function isoTime(text: string): number {
  const date = ISO_TIME.exec(text)?.[1];
  if (date === undefined) return Number.NaN;
  // `Date.parse` takes the 30th of February for the 2nd of March.
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const isRealDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
  return isRealDay ? Date.parse(text) : Number.NaN;
}
