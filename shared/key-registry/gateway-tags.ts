/** Tags of API keys and usage plans that carry what API Gateway has no field for. An admin may set them manually. */
export const gatewayTags = {
  /** On a usage plan: the id of the plan in the catalog that its keys are on. */
  plan: 'plan',
  /** On a key of the Enterprise plan: agreed requests per minute. */
  perMinute: 'per-minute',
  /** On a key of the Enterprise plan: agreed requests per UTC day. */
  perDay: 'per-day',
  /** On a key: its expiry, as an ISO 8601 date or time. */
  expires: 'expires',
} as const;

const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * An ISO 8601 date (its first moment in UTC), or a date with time and zone, as Unix milliseconds. NaN for any other
 * text: a time without a zone would depend on the computer.
 */
export function isoTime(text: string): number {
  const date = ISO_TIME.exec(text)?.[1];
  // `Date.parse` accepts February 30 as March 2.
  const isRealDay = date !== undefined && new Date(date).toJSON()?.startsWith(date);
  return isRealDay ? Date.parse(text) : Number.NaN;
}

/**
 * Value of the tag `plan` on internal usage plans: Overflow meters refused requests; Interim meters
 * those of keys that may still propagate in API Gateway, and only throttles batch updates.
 */
export const INTERNAL_PLAN = 'internal';
