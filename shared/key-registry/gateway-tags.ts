/**
 * Tags that carry what API Gateway has no field for, on the API keys and usage plans of a stage.
 *
 * An admin may set them by hand, in the console or with the AWS CLI.
 */
export const gatewayTags = {
  /** On a usage plan: the id of the plan in the catalogue that its keys are on. */
  plan: 'plan',
  /** On a usage plan, or on one of its keys: agreed requests per minute. */
  perMinute: 'per-minute',
  /** On a usage plan, or on one of its keys: agreed requests per UTC day. */
  perDay: 'per-day',
  /** On a key: when it stops working, as an ISO 8601 date or time. */
  expires: 'expires',
  /** On a key that was rotated: the id of the key that replaces it. */
  replacedBy: 'replaced-by',
  /** On a key that a rotation made: the id of the key that it replaces. */
  replaces: 'replaces',
  /** On a key that is between two usage plans: since when, as an ISO 8601 time. */
  moving: 'moving',
  /** On the usage plan that the admin command made for one customer: API and stage. It goes when its last key goes. */
  ownPlanOf: 'own-plan-of',
  /** On such a usage plan: its keys are leaving it. */
  obsolete: 'obsolete',
  /** On a key or a usage plan that is being made: since when, as an ISO 8601 time. Gone once it is complete. */
  unfinished: 'unfinished',
} as const;

/** How long after its start a command of an admin is taken for under way, in milliseconds; later it was cut off. */
const UNDER_WAY_MS = 10 * 60_000;

/** Whether a time in a tag is so long ago that whoever set it is no longer at work. @param now Unix milliseconds */
export function isStale(since: string, now: number): boolean {
  const time = Date.parse(since);
  return Number.isNaN(time) || now - time > UNDER_WAY_MS;
}
