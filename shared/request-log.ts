import type { OperationId } from './contract/routes.ts';
import type { ErrorCode } from './contract/errors.ts';
import { requiredEnv } from './environment.ts';

/** Where the metrics of all stages are; each has its stack as a dimension of its own. */
export const METRICS_NAMESPACE = 'PetStoreInventory';

/**
 * The metrics of requests by their names, each a count, with the dimensions that it is kept by: those that an alarm or
 * a graph reads. Every distinct set of dimension values is a metric of its own to CloudWatch, and to its bill.
 */
const requestMetrics = {
  Requests: [['stack'], ['stack', 'plan']],
  /** Those that the authorizer denied, refused or could not count; `reason` is the error code. */
  Refusals: [['stack'], ['stack', 'reason']],
} as const;

type RequestMetric = keyof typeof requestMetrics;

/** What a line says of a request that has been answered. Never a key, nor anything a key could be rebuilt from. */
export interface CompletedRequest {
  readonly requestId: string;
  /** When the gateway received it, Unix milliseconds. */
  readonly receivedAt: number;
  /** Undefined for a request that is none. */
  readonly operation: OperationId | undefined;
  /** Undefined without a valid key. */
  readonly keyId?: string | undefined;
  readonly plan?: string | undefined;
  readonly status: number;
  /** Of the Error body. */
  readonly code?: ErrorCode | undefined;
  /** The same, where it was the authorizer that denied or refused it, or could not count it. */
  readonly refusal?: ErrorCode | undefined;
  /** False if a complete list was truncated. A page is returned at once, and API Gateway logs its outcome. */
  readonly complete?: boolean;
}

/** What a stage's lines have in common. */
export interface LogOrigin {
  readonly namespace: string;
  readonly stack: string;
}

/**
 * Writes one line about each request. It is a record of the log, and the metrics of the request at the same time, in
 * CloudWatch's Embedded Metric Format (CloudWatch user guide, "Specification: Embedded metric format").
 *
 * It is our own because Powertools has one set of dimensions for all metrics of a line: by plan and reason at once
 * that makes some times as many metrics to pay for. It also takes milliseconds of every cold start.
 */
export function requestLog(): (request: CompletedRequest) => void {
  const origin = { namespace: requiredEnv('METRICS_NAMESPACE'), stack: requiredEnv('STACK_NAME') };
  // Lambda would put its own words before what goes through the console, and CloudWatch reads whole lines of JSON only.
  // Node.js opens its standard output at the first use: now, while Lambda initializes, not in the first request.
  const { stdout } = process;
  let isFirst = true;
  return (request) => {
    stdout.write(`${JSON.stringify(requestLine(request, origin, Date.now(), isFirst))}\n`);
    isFirst = false;
  };
}

const NONE = 'none';

/**
 * @param now Unix milliseconds
 * @param coldStart whether it is the first request of its execution environment
 */
export function requestLine(
  request: CompletedRequest,
  { namespace, stack }: LogOrigin,
  now: number,
  coldStart = false,
) {
  const { requestId, operation = NONE, keyId = NONE, plan = NONE, code, refusal, complete = true } = request;
  // Only what there is to count: a metric that is always zero is paid for too.
  const metrics: RequestMetric[] = refusal === undefined ? ['Requests'] : ['Requests', 'Refusals'];
  return {
    level: 'INFO',
    message: 'Request',
    requestId,
    operation,
    keyId,
    plan,
    status: String(request.status),
    ...(code !== undefined && { code }),
    ...(refusal !== undefined && { reason: refusal }),
    ...(!complete && { complete }),
    // The gateway's clock may be ahead of ours.
    latency: Math.max(0, now - request.receivedAt),
    ...(coldStart && { coldStart }),
    stack,
    ...Object.fromEntries(metrics.map((name) => [name, 1])),
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: metrics.map((name) => ({
        Namespace: namespace,
        Dimensions: requestMetrics[name],
        Metrics: [{ Name: name, Unit: 'Count' }],
      })),
    },
  };
}
