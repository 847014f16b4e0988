import { afterEach, beforeEach, jest } from '@jest/globals';
import * as v from 'valibot';
import { operationIds } from '../../shared/contract/routes.ts';
import type { LocalHost } from './local-host.ts';

const whole = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The line about a request; nothing else may be in it. */
const requestLineSchema = v.strictObject({
  level: v.literal('INFO'),
  message: v.literal('Request'),
  requestId: v.pipe(v.string(), v.uuid()),
  operation: v.picklist([...operationIds, 'none']),
  keyId: v.string(),
  token: v.optional(v.string()),
  plan: v.string(),
  status: v.pipe(v.string(), v.regex(/^[2-5]\d\d$/)),
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  complete: v.optional(v.literal(false)),
  cause: v.optional(v.string()),
  latency: whole,
  coldStart: v.optional(v.literal(true)),
  stack: v.string(),
  Requests: v.literal(1),
  Refusals: v.optional(v.literal(1)),
  ThrottledRequests: v.optional(v.literal(1)),
  ExcusedLists: v.optional(v.literal(1)),
  _aws: v.unknown(),
});

type RequestLine = v.InferOutput<typeof requestLineSchema>;

function requestLinesIn(log: string): RequestLine[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"message":"Request"'))
    .map((line) => v.parse(requestLineSchema, JSON.parse(line)));
}

/** Keeps what is written to a stream, test by test. @returns the arguments of the writes so far */
function recordWrites(stream: NodeJS.WriteStream): () => unknown[][] {
  let spy: jest.SpiedFunction<typeof stream.write>;
  beforeEach(() => void (spy = jest.spyOn(stream, 'write').mockReturnValue(true)));
  afterEach(() => spy.mockRestore());
  return () => spy.mock.calls;
}

/** Keeps what handlers in this process log. Call it where hooks may stand, and before a handler is made. */
export function recordLog(): () => string {
  Object.assign(process.env, { METRICS_NAMESPACE: 'PetStoreInventory', STACK_NAME: 'test-Inventory' });
  const writes = recordWrites(process.stdout);
  return () =>
    writes()
      .map(([text]) => String(text))
      .join('');
}

/** Keeps what this process reports on standard error. Call it where hooks may stand. */
export const recordFaults = (): (() => unknown[][]) => recordWrites(process.stderr);

/** Keeps the lines about requests, as {@link recordLog} does. */
export function recordRequestLines(): () => RequestLine[] {
  const log = recordLog();
  return () => requestLinesIn(log());
}

/** The lines that a server has logged about a request, once there are any. */
export async function linesAbout(host: LocalHost, { headers }: Pick<Response, 'headers'>): Promise<RequestLine[]> {
  const requestId = headers.get('x-amzn-RequestId');
  const log = await host.logWith(`"requestId":"${requestId}","operation"`);
  return requestLinesIn(log).filter((line) => line.requestId === requestId);
}

/**
 * The part of CloudWatch's Embedded Metric Format that is used here (CloudWatch user guide, "Specification: Embedded
 * metric format"). CloudWatch drops the metrics of a line that breaks its rules, without any message.
 */
const embeddedMetricsSchema = v.looseObject({
  _aws: v.strictObject({
    Timestamp: whole,
    CloudWatchMetrics: v.array(
      v.strictObject({
        Namespace: v.literal('PetStoreInventory'),
        Dimensions: v.array(v.array(v.string())),
        Metrics: v.array(v.strictObject({ Name: v.string(), Unit: v.literal('Count') })),
      }),
    ),
  }),
});

const dimensionValue = v.pipe(v.string(), v.maxLength(1_024), v.regex(/\S/));

/** One value of a metric, as CloudWatch takes it from a line. */
interface TakenMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

/** What CloudWatch takes from a line. @throws ValiError where the line breaks a rule of the format */
export function metricsIn(line: unknown): TakenMetric[] {
  const { _aws: format, ...members } = v.parse(embeddedMetricsSchema, line);
  return format.CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Metrics.flatMap(({ Name: name }) =>
      Dimensions.map((set) => ({
        namespace,
        name,
        dimensions: Object.fromEntries(
          set.map((dimension) => [dimension, v.parse(dimensionValue, members[dimension])]),
        ),
        value: v.parse(v.number(), members[name]),
      })),
    ),
  );
}
