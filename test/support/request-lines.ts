import { setTimeout as sleep } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, jest } from '@jest/globals';
import * as v from 'valibot';
import type { LocalHost } from './local-host.ts';
import { parseReportLine } from './parsed-report-line.ts';

const units = v.pipe(v.number(), v.minValue(0));
const whole = v.pipe(units, v.integer());

/** The line about a request; nothing else may be in it. */
const requestLineSchema = v.strictObject({
  level: v.literal('INFO'),
  message: v.literal('Request'),
  requestId: v.pipe(v.string(), v.uuid()),
  operation: v.picklist(['listInventory', 'updateInventory', 'getPet', 'listOrders', 'none']),
  keyId: v.string(),
  plan: v.string(),
  status: v.pipe(v.string(), v.regex(/^[2-5]\d\d$/)),
  code: v.optional(v.string()),
  reason: v.optional(v.string()),
  complete: v.optional(v.literal(false)),
  latency: whole,
  coldStarts: v.pipe(whole, v.maxValue(2)),
  stack: v.string(),
  Requests: v.literal(1),
  Refusals: v.optional(v.literal(1)),
  ColdStarts: v.optional(v.picklist([1, 2])),
  _aws: v.unknown(),
});

export type RequestLine = v.InferOutput<typeof requestLineSchema>;

/** The lines about requests in a log; whatever else there is in it is left out. */
export function requestLinesIn(log: string): RequestLine[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"message":"Request"'))
    .map((line) => v.parse(requestLineSchema, JSON.parse(line)));
}

/**
 * Keeps the lines that handlers in this process write, test by test. Call it where hooks may stand, and before a handler
 * is made.
 *
 * @returns those of the test so far
 */
export function recordRequestLines(): () => RequestLine[] {
  Object.assign(process.env, { METRICS_NAMESPACE: 'PetStoreInventory', STACK_NAME: 'test-Inventory' });
  let log = '';
  let spy: jest.SpiedFunction<typeof process.stdout.write>;
  beforeEach(() => {
    log = '';
    spy = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      log += String(text);
      return true;
    });
  });
  afterEach(() => {
    spy.mockRestore();
  });
  return () => requestLinesIn(log);
}

/** The lines about requests that a host has logged, once there are so many, or as many as there are after some seconds. */
export async function loggedRequests(host: LocalHost, count: number): Promise<RequestLine[]> {
  const deadline = performance.now() + 5_000;
  while (requestLinesIn(host.log).length < count && performance.now() < deadline) await sleep(20);
  return requestLinesIn(host.log);
}

const ids = v.pipe(
  v.optional(v.string(), '[]'),
  v.transform((text): unknown => JSON.parse(text)),
  v.array(v.string()),
);

/** The line that each run of the sync function logs. */
const runSchema = v.strictObject({
  _aws: v.strictObject({ Timestamp: v.number(), CloudWatchMetrics: v.array(v.unknown()) }),
  service: v.string(),
  stack: v.string(),
  KeysInAccount: v.number(),
  KeysAdded: v.number(),
  KeysChanged: v.number(),
  KeysDisabled: v.number(),
  KeysRemoved: v.number(),
  KeysUnchanged: v.number(),
  SyncConflicts: v.number(),
  SyncProblems: v.number(),
  added: ids,
  changed: ids,
  disabled: ids,
  removed: ids,
  conflicts: ids,
  problems: ids,
});

export type SyncRun = v.InferOutput<typeof runSchema>;

/** What the sync function of a host has logged so far. */
export function syncLogOf({ host }: LocalHost): string {
  const file = readdirSync(host.logFolder).find((name) => name.includes('KeySyncFunction'));
  if (file === undefined) throw new Error('The sync function has no log');
  return readFileSync(path.join(host.logFolder, file), 'utf8');
}

/** The runs of the sync function so far, without Lambda's own lines. Throws where it has logged anything else. */
export function syncRunsOf(host: LocalHost): SyncRun[] {
  const lines = syncLogOf(host).split('\n').slice(0, -1);
  const written = lines.filter((line) => !parseReportLine(line));
  return written.map((line) => v.parse(runSchema, JSON.parse(line)));
}

/** The runs, once there are so many; those that there are after ten seconds otherwise. */
export async function syncRuns(host: LocalHost, count: number): Promise<SyncRun[]> {
  const deadline = performance.now() + 10_000;
  while (syncRunsOf(host).length < count && performance.now() < deadline) await sleep(20);
  return syncRunsOf(host);
}

/** The units that CloudWatch knows (API reference of MetricDatum) and that are used here. */
const unit = v.picklist(['Count', 'Milliseconds', 'Bytes', 'None']);

const metricDirective = v.strictObject({
  Namespace: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
  Dimensions: v.pipe(
    v.array(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(250))), v.maxLength(30))),
    v.minLength(1),
  ),
  Metrics: v.pipe(
    v.array(
      v.strictObject({
        Name: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
        Unit: v.optional(unit),
        StorageResolution: v.optional(v.picklist([1, 60])),
      }),
    ),
    v.minLength(1),
    v.maxLength(100),
  ),
});

const metricValue = v.union([v.number(), v.pipe(v.array(v.number()), v.minLength(1), v.maxLength(100))]);
const dimensionValue = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024), v.regex(/\S/));

/**
 * The rules of CloudWatch's Embedded Metric Format (CloudWatch user guide, "Specification: Embedded metric format"):
 * a line that breaks one is kept as a line, and its metrics are lost without a word.
 */
const embeddedMetricsSchema = v.pipe(
  v.looseObject({
    _aws: v.object({
      Timestamp: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      CloudWatchMetrics: v.pipe(v.array(metricDirective), v.minLength(1)),
    }),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { _aws: format, ...members } = dataset.value;
    for (const { Dimensions, Metrics } of format.CloudWatchMetrics) {
      for (const name of Dimensions.flat()) {
        if (!v.is(dimensionValue, members[name])) addIssue({ message: `The dimension ${name} has no text` });
      }
      for (const { Name } of Metrics) {
        if (!v.is(metricValue, members[Name])) addIssue({ message: `The metric ${Name} has no number` });
      }
    }
  }),
);

/** One value of a metric, as CloudWatch takes it from a line. */
export interface TakenMetric {
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
        dimensions: Object.fromEntries(set.map((dimension) => [dimension, members[dimension]])),
        value: members[name],
      })),
    ),
  );
}
