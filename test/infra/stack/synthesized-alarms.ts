import * as v from 'valibot';
import { propertiesOf, readableStage } from '../../support/service-template.ts';

const production = readableStage('production');

const metricSchema = v.object({
  Namespace: v.string(),
  MetricName: v.string(),
  Dimensions: v.optional(v.array(v.object({ Name: v.string(), Value: v.string() })), []),
});
const metricStat = v.object({ Metric: metricSchema, Stat: v.string(), Period: v.number() });
const alarmSchema = v.looseObject({
  AlarmName: v.optional(v.string(), ''),
  TreatMissingData: v.string(),
  ComparisonOperator: v.picklist(['GreaterThanThreshold', 'GreaterThanOrEqualToThreshold']),
  Threshold: v.number(),
  EvaluationPeriods: v.number(),
  DatapointsToAlarm: v.optional(v.number()),
  Metrics: v.array(
    v.object({ Id: v.string(), Expression: v.optional(v.string()), MetricStat: v.optional(metricStat) }),
  ),
});
/** The alarms of production by their names. That of the rollout has no name, and no recipient. */
export const alarms = propertiesOf(production, 'AWS::CloudWatch::Alarm', alarmSchema).map(
  ([name, alarm]) => [alarm.AlarmName.replace('<stage>-Inventory-', '') || name, alarm] as const,
);

export type SynthesizedAlarm = v.InferOutput<typeof alarmSchema>;
export type AlarmMetric = v.InferOutput<typeof metricSchema>;
