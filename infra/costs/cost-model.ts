import { prices } from './prices.ts';

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

export interface CostSettings {
  /** Memory of the functions. */
  readonly memoryMegabytes: number;
  /** Share of the requests that X-Ray records, 0 to 1. */
  readonly tracedShare: number;
  readonly firewall: boolean;
}

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
export function costPerMillion(usage: RequestUsage, settings: CostSettings): Costs {
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

/** The mean request of a mix. @param parts requests of each kind, and their share; the shares add up to 1 */
export function meanUsage(parts: readonly (readonly [usage: RequestUsage, share: number])[]): RequestUsage {
  const mean = (of: (usage: RequestUsage) => number): number =>
    parts.reduce((sum, [usage, share]) => sum + of(usage) * share, 0);
  return {
    writeUnits: mean(({ writeUnits }) => writeUnits),
    readUnits: mean(({ readUnits }) => readUnits),
    invocations: mean(({ invocations }) => invocations),
    billedMs: mean(({ billedMs }) => billedMs),
    logBytes: mean(({ logBytes }) => logBytes),
    answerBytes: mean(({ answerBytes }) => answerBytes),
  };
}

/** What a stage has that is paid by the month, whether or not there are requests. */
export interface FixedParts {
  /** Metrics that alarms look at; one with a formula looks at each of its metrics. */
  readonly alarmMetrics: number;
  readonly dashboards: number;
  /** Metrics that are not AWS's own free ones, and those that API Gateway keeps of each method. */
  readonly metrics: number;
  readonly webAcls: number;
  readonly webAclRules: number;
  readonly kmsKeys: number;
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
