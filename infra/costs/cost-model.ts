import * as v from 'valibot';
import { errorCatalogue } from '../../shared/contract/errors.ts';
import { operations } from '../../shared/contract/operations.ts';
import { type Limits, type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { countedBySync } from '../../shared/key-registry/sync-keys.ts';
import { requestMetrics } from '../../shared/request-log.ts';
import { stages } from '../stages.ts';
import { FUNCTION_MEMORY_MEGABYTES, prices, TRACED_SHARE } from './prices.ts';

/** What a request takes, the mean of many. Measured by `npm run bench -- costs`. */
export interface RequestUsage {
  /** DynamoDB capacity, of the authorizer and of the operation together. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Functions that run for it: the authorizer, and the one behind it. */
  readonly invocations: number;
  /** Milliseconds that Lambda bills for all of them. */
  readonly billedMs: number;
  /** All lines that it leaves in the logs, in bytes. */
  readonly logBytes: number;
  /** Headers and body of the answer, in bytes. */
  readonly answerBytes: number;
}

/** What the costs in docs/operating/costs.md are computed with. */
const usualSettings = {
  /** Memory of the functions. */
  memoryMegabytes: FUNCTION_MEMORY_MEGABYTES,
  /** Share of the requests that X-Ray records, 0 to 1. */
  tracedShare: TRACED_SHARE,
  firewall: true,
};

/** The requests of a customer, by their shares. */
const requestMix = { update: 0.5, pet: 0.3, page: 0.2 } as const;

/** What each request of the mix takes. */
export type MixedUsages = Readonly<Record<keyof typeof requestMix, RequestUsage>>;

export const DAYS_A_MONTH = 30;

/** USD, by what they are paid for. */
export interface Costs {
  readonly gateway: number;
  readonly lambda: number;
  readonly dynamodb: number;
  readonly logs: number;
  readonly tracing: number;
  readonly firewall: number;
  /** What goes out to the internet. */
  readonly traffic: number;
}

const MILLION = 1_000_000;
const BYTES_PER_GB = 1_000_000_000;
/** Of an answer, for one billed request. */
const STREAMED_BYTES_PER_REQUEST = 10 * 1024 * 1024;

/** What a million such requests cost in USD, without what is paid by the month. */
export function costPerMillion(usage: RequestUsage, settings = usualSettings): Costs {
  const gbSeconds = (usage.billedMs / 1_000) * (settings.memoryMegabytes / 1_024);
  const perGb = (bytes: number, price: number): number => ((bytes * MILLION) / BYTES_PER_GB) * price;
  return {
    gateway:
      prices.apiGateway.perMillionRequests * Math.max(1, Math.ceil(usage.answerBytes / STREAMED_BYTES_PER_REQUEST)),
    lambda: prices.lambda.perMillionRequests * usage.invocations + prices.lambda.perGbSecondArm * gbSeconds * MILLION,
    dynamodb:
      prices.dynamodb.perMillionWriteUnits * usage.writeUnits + prices.dynamodb.perMillionReadUnits * usage.readUnits,
    logs: perGb(usage.logBytes, prices.logs.perGbIngested),
    tracing: prices.xray.perMillionTracesRecorded * settings.tracedShare,
    firewall: settings.firewall ? prices.waf.perMillionRequests : 0,
    traffic: perGb(usage.answerBytes, prices.dataTransfer.perGbOut),
  };
}

export function totalOf(costs: Costs): number {
  return Object.values(costs).reduce((sum: number, part: number) => sum + part, 0);
}

/** The limits of a plan; of Enterprise, what a customer might have agreed: the most that staging agrees to. */
export function limitsOf(plan: PlanId): Limits {
  const { limits } = plans[plan];
  return limits === 'agreed' ? stages.staging.mostForEnterprise : limits;
}

/**
 * What a million requests of the mix cost.
 *
 * @param usages each with the one write that counting it took while it was measured
 * @param countingWrites what counting takes on the plan at its full use, in writes a request
 */
export function costOfMix(usages: MixedUsages, countingWrites: number): Costs {
  const mean = (of: keyof RequestUsage): number =>
    usages.update[of] * requestMix.update + usages.pet[of] * requestMix.pet + usages.page[of] * requestMix.page;
  return costPerMillion({
    writeUnits: mean('writeUnits') - 1 + countingWrites,
    readUnits: mean('readUnits'),
    invocations: mean('invocations'),
    billedMs: mean('billedMs'),
    logBytes: mean('logBytes'),
    answerBytes: mean('answerBytes'),
  });
}

/** What a stage has that is paid by the month, whether or not there are requests. */
export interface FixedParts {
  /** Metrics that alarms look at; one with a formula looks at each of its metrics. */
  readonly alarmMetrics: number;
  readonly dashboards: number;
  /** Metrics that are not AWS's own free ones, and those that API Gateway keeps of some methods; none without requests. */
  readonly metrics: number;
  readonly webAcls: number;
  readonly webAclRules: number;
  readonly kmsKeys: number;
}

/** The sync of keys, day and night: milliseconds with a few keys at 4 calls a second, and bytes of log. */
const SYNC = { everyMinutes: 5, billedMs: 2_000, memoryMegabytes: 512, logBytes: 600 };
/** Lambda asks an empty queue over five connections, each for 20 seconds at a time (Lambda developer guide, "Using Lambda with Amazon SQS"). */
const POLLS_A_MINUTE = 15;

/** USD a month of a stage that nobody calls, with a few keys. */
export function atRestMonthly(parts: FixedParts): number {
  const syncs = (DAYS_A_MONTH * 1_440) / SYNC.everyMinutes;
  const usage = { writeUnits: 0, readUnits: 1, invocations: 1, answerBytes: 0, ...SYNC };
  const { lambda, dynamodb, logs, tracing } = costPerMillion(usage, { ...SYNC, tracedShare: 1, firewall: false });
  const polls = DAYS_A_MONTH * 1_440 * POLLS_A_MINUTE * prices.sqs.perMillionRequests;
  return fixedMonthly({ ...parts, metrics: 0 }) + ((lambda + dynamodb + logs + tracing) * syncs + polls) / MILLION;
}

/** What they cost in a month, in USD. */
export function fixedMonthly(parts: FixedParts): number {
  return (
    parts.alarmMetrics * prices.cloudWatch.perAlarmMetricMonthly +
    parts.dashboards * prices.cloudWatch.perDashboardMonthly +
    parts.metrics * prices.cloudWatch.perMetricMonthly +
    parts.webAcls * prices.waf.perWebAclMonthly +
    parts.webAclRules * prices.waf.perRuleMonthly +
    parts.kmsKeys * prices.kms.perKeyMonthly
  );
}

const list = v.optional(v.array(v.looseObject({})), []);
const templateSchema = v.object({
  Resources: v.record(
    v.string(),
    v.object({
      Type: v.string(),
      Properties: v.optional(v.looseObject({ Metrics: list, MethodSettings: list, Rules: list }), {}),
    }),
  ),
});

/** Count, Latency, IntegrationLatency, 4XXError and 5XXError. */
const METRICS_PER_METHOD = 5;

/** What a synthesized stack has that is paid by the month. The metrics are the most there can be: all values at once. */
export function fixedPartsOf(template: unknown): FixedParts {
  const resources = Object.values(v.parse(templateSchema, template).Resources);
  const all = (type: string) => resources.flatMap((one) => (one.Type === type ? [one.Properties] : []));
  const alarms = all('AWS::CloudWatch::Alarm');
  const settings = all('AWS::ApiGateway::Stage').flatMap(({ MethodSettings }) => MethodSettings);
  const webAcls = all('AWS::WAFv2::WebACL');
  return {
    alarmMetrics: sum(alarms.map(({ Metrics }) => Metrics.filter((one) => 'MetricStat' in one).length || 1)),
    dashboards: all('AWS::CloudWatch::Dashboard').length,
    metrics:
      requestMetricCount() +
      Object.keys(countedBySync).length +
      all('AWS::Logs::MetricFilter').length +
      METRICS_PER_METHOD * settings.filter((one) => one['MetricsEnabled'] === true).length,
    webAcls: webAcls.length,
    webAclRules: sum(webAcls.map(({ Rules }) => Rules.length)),
    kmsKeys: all('AWS::KMS::Key').length,
  };
}

/** Every set of dimension values of a request's metrics is a metric of its own. */
function requestMetricCount(): number {
  // Only the gateway says that there are too many requests, and it writes no line of ours.
  const { TOO_MANY_REQUESTS: _, ...logged } = errorCatalogue;
  const errors = Object.values(logged);
  const values: Readonly<Record<string, number>> = {
    stack: 1,
    // And none.
    operation: Object.keys(operations).length + 1,
    plan: planIds.length + 1,
    // And 200.
    status: new Set(errors.map(({ status }) => status)).size + 1,
    reason: errors.filter(({ status }) => [401, 429, 503].includes(status)).length,
  };
  const sets = Object.values(requestMetrics).flat();
  return sum(sets.map((dimensions) => dimensions.reduce((count, name) => count * (values[name] ?? 1), 1)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
