import type { OperationId } from './contract/routes.ts';
import type { ErrorCode } from './contract/errors.ts';
import { requiredEnv } from './environment.ts';

/** Logs a failure as one line of JSON. Never pass a key, or data that could reveal one. */
export function logError(message: string, error: unknown, details: object = {}): void {
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

/** The log line of a completed request. Never a key, or data that could reveal one. */
export interface CompletedRequest {
  readonly requestId: string;
  /** When the gateway received it, Unix milliseconds. */
  readonly receivedAt: number;
  /** Undefined if no operation matches. */
  readonly operation: OperationId | undefined;
  /** Undefined without a valid key. */
  readonly keyId?: string | undefined;
  /** Label and last four characters of its token, such as `main/ly02`. */
  readonly token?: string | undefined;
  readonly plan?: string | undefined;
  readonly status: number;
  /** The code of the Error body. */
  readonly code?: ErrorCode | undefined;
  /** The same code if the authorizer denied or refused the request, or could not count it. */
  readonly refusal?: ErrorCode | undefined;
  /** False if a complete list was truncated. A page is returned at once, and API Gateway logs its outcome. */
  readonly complete?: boolean;
  /** Name of the error that caused a 5xx or truncated a list. See {@link excuseOf}. */
  readonly cause?: string | undefined;
}

/** Name of the error of a list whose client was disconnected for being too slow. */
export const SLOW_CLIENT = 'SlowClientError';

/** The metrics of a request's line. Alarms subtract the last two from failures, as they are not the service's. */
export type RequestMetric = 'Requests' | 'Refusals' | 'ThrottledRequests' | 'ExcusedLists';

/** Logs a change of stock that is perhaps not in its history, with the metric of {@link UNRECORDED}. */
export function unrecordedLog(): (error: unknown, petId: string) => void {
  const origin = logOrigin();
  return (error, petId) => {
    const details = metricLine({ petId, [UNRECORDED]: 1 }, { [UNRECORDED]: [['stack']] }, origin, Date.now());
    logError('A change of stock is perhaps not recorded', error, details);
  };
}

export const UNRECORDED = 'UnrecordedChanges';

/** Names of DynamoDB's errors: it throttled a call, or a transaction met other writes. */
const THROTTLED = /Exceeded|^Throttling/;
const CONTENDED = /^Transaction|^ConditionalCheckFailed$/;

/** The metric of a failure that is not the service's. With another status it is, whatever its cause is called. */
function excuseOf({ status, complete = true, cause = '' }: CompletedRequest): RequestMetric | undefined {
  if (status === 503 && (THROTTLED.test(cause) || CONTENDED.test(cause))) return 'ThrottledRequests';
  if (!complete && (THROTTLED.test(cause) || cause === SLOW_CLIENT)) return 'ExcusedLists';
  return undefined;
}

export const logOrigin = () => ({
  namespace: requiredEnv('METRICS_NAMESPACE'),
  stack: requiredEnv('STACK_NAME'),
});

type LogOrigin = Readonly<ReturnType<typeof logOrigin>>;

/** The names of a line's fields that are metrics, each a count, with the fields that are its sets of dimensions. */
type Metrics = Readonly<Record<string, readonly (readonly string[])[]>>;

/**
 * A line that is both a log record and metrics, in CloudWatch's Embedded Metric Format (CloudWatch user guide,
 * "Specification: Embedded metric format"). A metric of 0 should be omitted: it would be billed.
 *
 * We do not use Powertools, as it has one set of dimensions for all metrics of a line: plan and reason together
 * would multiply the billed metrics. It also adds milliseconds to every cold start.
 *
 * @param now Unix milliseconds
 */
export const metricLine = (fields: object, metrics: Metrics, { namespace, stack }: LogOrigin, now: number) => ({
  ...fields,
  stack,
  _aws: {
    Timestamp: now,
    CloudWatchMetrics: Object.entries(metrics).map(([name, dimensions]) => ({
      Namespace: namespace,
      Dimensions: dimensions,
      Metrics: [{ Name: name, Unit: 'Count' }],
    })),
  },
});

/** Writes one line about each request. */
export function requestLog(): (request: CompletedRequest) => void {
  const origin = logOrigin();
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

/** @param now Unix milliseconds @param coldStart whether it is the first request of its execution environment */
export function requestLine(request: CompletedRequest, origin: LogOrigin, now: number, coldStart = false) {
  const { requestId, operation = NONE, keyId = NONE, token, plan = NONE } = request;
  const { code, refusal, complete = true, cause } = request;
  const excuse = excuseOf(request);
  const fields = {
    level: 'INFO',
    message: 'Request',
    requestId,
    operation,
    keyId,
    token,
    plan,
    status: String(request.status),
    code,
    complete: complete ? undefined : false,
    cause,
    // The gateway's clock may be ahead of ours.
    latency: Math.max(0, now - request.receivedAt),
    coldStart: coldStart || undefined,
    Requests: 1,
    ...(refusal !== undefined && { reason: refusal, Refusals: 1 }),
    ...(excuse && { [excuse]: 1 }),
  };
  // Those that an alarm or a graph reads: each distinct set of dimension values is billed as a separate metric.
  const metrics = {
    Requests: [['stack'], ['stack', 'plan']],
    ...(refusal !== undefined && { Refusals: [['stack'], ['stack', 'reason']] }),
    ...(excuse && { [excuse]: [['stack']] }),
  } satisfies Partial<Record<RequestMetric, unknown>>;
  return metricLine(fields, metrics, origin, now);
}
