/**
 * Tags that carry what API Gateway has no field for, on the API keys and usage plans of a stage.
 *
 * An admin may set them by hand, in the console or with the AWS CLI.
 */
export const gatewayTags = {
  /** On a usage plan: the id of the plan in the catalogue that its keys are on. */
  plan: 'plan',
  /** On a key of the Enterprise plan: agreed requests per minute. */
  perMinute: 'per-minute',
  /** On a key of the Enterprise plan: agreed requests per UTC day. */
  perDay: 'per-day',
  /** On a key: when it stops working, as an ISO 8601 date or time. */
  expires: 'expires',
  /** On a key: when a token of it was last ended, as an ISO 8601 time. A record that is behind it was restored. */
  tokensEnded: 'tokens-ended',
  /** On a key that is being made: since when, as an ISO 8601 time. Gone once it is complete. */
  unfinished: 'unfinished',
} as const;

/** How long after its start a command of an admin is taken for under way, in milliseconds; later it was cut off. */
export const UNDER_WAY_MS = 10 * 60_000;

/** Whether a time in a tag is so long ago that the command which set it has ended. @param now Unix milliseconds */
export function isStale(since: string, now: number): boolean {
  const time = Date.parse(since);
  return Number.isNaN(time) || now - time > UNDER_WAY_MS;
}

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
