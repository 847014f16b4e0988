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
  /** On a key or a usage plan that is being made: since when, as an ISO 8601 time. Gone once it is complete. */
  unfinished: 'unfinished',
} as const;
