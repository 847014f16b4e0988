import * as v from 'valibot';
import { errorCatalogue } from '../../shared/contract/errors.ts';
import { operations } from '../../shared/contract/operations.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { syncMetricNames } from '../../shared/key-registry/sync-report.ts';
import { requestMetrics } from '../../shared/request-log.ts';
import type { FixedParts } from './cost-model.ts';

const templateSchema = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
});
const alarmSchema = v.object({ Metrics: v.optional(v.array(v.looseObject({ MetricStat: v.optional(v.unknown()) }))) });
const webAclSchema = v.object({ Rules: v.array(v.unknown()) });

/** Count, Latency, IntegrationLatency, 4XXError and 5XXError. */
const METRICS_PER_METHOD = 5;

/** What a synthesized stack has that is paid by the month. The metrics are the most there can be: all values at once. */
export function fixedPartsOf(template: unknown): FixedParts {
  const resources = Object.values(v.parse(templateSchema, template).Resources);
  const all = (type: string): unknown[] =>
    resources.filter(({ Type }) => Type === type).map(({ Properties }) => Properties);
  const alarms = all('AWS::CloudWatch::Alarm').map((alarm) => v.parse(alarmSchema, alarm));
  const webAcls = all('AWS::WAFv2::WebACL').map((acl) => v.parse(webAclSchema, acl));
  return {
    alarmMetrics: sum(
      alarms.map(({ Metrics = [{ MetricStat: {} }] }) => Metrics.filter((one) => one.MetricStat).length),
    ),
    dashboards: all('AWS::CloudWatch::Dashboard').length,
    metrics: requestMetricCount() + syncMetricNames.length + METRICS_PER_METHOD * all('AWS::ApiGateway::Method').length,
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
