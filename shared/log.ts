import type { OperationId } from './contract/routes.ts';
import type { ErrorCode } from './contract/errors.ts';
import { requiredEnv } from './environment.ts';

/** Logs a failure as one line of JSON. Never pass a key, or data that could reveal one. */
export function logError(message: string, error: unknown, details: Readonly<Record<string, string>> = {}): void {
  const { name, message: reason, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const rootCause = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
  const line = { level: 'ERROR', message, ...details, error: { name, reason, rootCause, stack } };
  // Lambda would wrap a console method's line as text within its own JSON.
  process.stderr.write(`${JSON.stringify(line)}\n`);
}

/** The message of any failure. For connections, and stores that cannot be opened, it is in the cause. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const isEmpty = error instanceof Error && /^fetch failed$|^Database failed to open$/.test(error.message);
  if (isEmpty && error.cause instanceof Error) return messageOf(error.cause);
  return error instanceof Error ? error.message || error.name : String(error);
}

/** The namespace of all stages' metrics; each has its stack as a dimension. */
export const METRICS_NAMESPACE = 'PetStoreInventory';

/**
 * The metrics of requests by their names, each a count, with its dimensions: those that an alarm or
 * a graph reads. CloudWatch bills every distinct set of dimension values as a separate metric.
 */
const requestMetrics = {
  Requests: [['stack'], ['stack', 'plan']],
  /** Those that the authorizer denied, refused or could not count; `reason` is the error code. */
  Refusals: [['stack'], ['stack', 'reason']],
} as const;

type RequestMetric = keyof typeof requestMetrics;

/** The log line of a completed request. Never a key, or data that could reveal one. */
export interface CompletedRequest {
  readonly requestId: string;
  /** When the gateway received it, Unix milliseconds. */
  readonly receivedAt: number;
  /** Undefined if no operation matches. */
  readonly operation: OperationId | undefined;
  /** Undefined without a valid key. */
  readonly keyId?: string | undefined;
  readonly plan?: string | undefined;
  readonly status: number;
  /** The code of the Error body. */
  readonly code?: ErrorCode | undefined;
  /** The same code if the authorizer denied or refused the request, or could not count it. */
  readonly refusal?: ErrorCode | undefined;
  /** False if a complete list was truncated. A page is returned at once, and API Gateway logs its outcome. */
  readonly complete?: boolean;
}

/** The common part of a stage's lines. */
export interface LogOrigin {
  readonly namespace: string;
  readonly stack: string;
}

/**
 * Writes one line about each request: both a log record and the metrics of the request, in
 * CloudWatch's Embedded Metric Format (CloudWatch user guide, "Specification: Embedded metric format").
 *
 * We do not use Powertools, as it has one set of dimensions for all metrics of a line: plan and reason together
 * would multiply the billed metrics. It also adds milliseconds to every cold start.
 */
export function requestLog(): (request: CompletedRequest) => void {
  const origin = { namespace: requiredEnv('METRICS_NAMESPACE'), stack: requiredEnv('STACK_NAME') };
  // Lambda prefixes console output with its own text, but CloudWatch requires complete lines of JSON.
  // Opens standard output now, while Lambda initializes, not in the first request.
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
  // No zeros: a metric that is always zero is billed too.
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
