/**
 * The metrics of requests by their names, each a count, with the dimensions that it is kept by. Every distinct set of
 * dimension values is a metric of its own to CloudWatch, and to its bill.
 */
export const requestMetrics = {
  Requests: [['stack'], ['stack', 'operation'], ['stack', 'plan'], ['stack', 'status']],
  /** Those that the authorizer denied, refused or could not count; `reason` is the error code. */
  Refusals: [['stack'], ['stack', 'reason']],
  ColdStarts: [['stack']],
} as const;

export type RequestMetric = keyof typeof requestMetrics;
