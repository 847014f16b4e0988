import * as v from 'valibot';
import { statisticOf } from '../../local/metrics/statistic.ts';
import type { LocalStack, Resource } from '../../local/template/stack.ts';
import { DashboardError } from '../dashboard-error.ts';
import type { MetricQuery } from '../metric-math.ts';

const comparisons = {
  GreaterThanOrEqualToThreshold: (value: number, threshold: number) => value >= threshold,
  GreaterThanThreshold: (value: number, threshold: number) => value > threshold,
  LessThanOrEqualToThreshold: (value: number, threshold: number) => value <= threshold,
  LessThanThreshold: (value: number, threshold: number) => value < threshold,
};

const comparisonOperators = v.picklist([
  'GreaterThanOrEqualToThreshold',
  'GreaterThanThreshold',
  'LessThanOrEqualToThreshold',
  'LessThanThreshold',
]);

const dimensions = v.optional(v.array(v.strictObject({ Name: v.string(), Value: v.string() })), []);
const metric = { Namespace: v.string(), MetricName: v.string(), Dimensions: dimensions };

const common = {
  AlarmName: v.optional(v.string()),
  AlarmDescription: v.optional(v.string(), ''),
  AlarmActions: v.optional(v.unknown()),
  OKActions: v.optional(v.unknown()),
  ComparisonOperator: comparisonOperators,
  Threshold: v.number(),
  EvaluationPeriods: v.number(),
  DatapointsToAlarm: v.optional(v.number()),
  TreatMissingData: v.optional(v.picklist(['missing', 'ignore', 'breaching', 'notBreaching']), 'missing'),
};

const queryId = { Id: v.string(), Label: v.optional(v.string()), ReturnData: v.optional(v.boolean(), true) };
const querySchema = v.union([
  v.strictObject({ ...queryId, Expression: v.string(), Period: v.optional(v.number()) }),
  v.strictObject({
    ...queryId,
    MetricStat: v.strictObject({ Metric: v.strictObject(metric), Period: v.number(), Stat: v.string() }),
  }),
]);

const propertiesSchema = v.union([
  v.strictObject({ ...common, Metrics: v.array(querySchema) }),
  v.strictObject({
    ...common,
    ...metric,
    Period: v.number(),
    Statistic: v.optional(v.string()),
    ExtendedStatistic: v.optional(v.string()),
  }),
]);

type Properties = v.InferOutput<typeof propertiesSchema>;

/** A metric alarm of the stack (CloudFormation, AWS::CloudWatch::Alarm). */
export interface AlarmDefinition {
  readonly arn: string;
  readonly name: string;
  readonly description: string;
  /** Seconds of one data point. */
  readonly period: number;
  /** How many of the last data points are looked at, and how many of them must breach. */
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly missingData: 'missing' | 'ignore' | 'breaching' | 'notBreaching';
  readonly breaches: (value: number) => boolean;
  readonly threshold: number;
  /** The query whose data points count, among those that it needs. */
  readonly returned: string;
  readonly queries: ReadonlyMap<string, MetricQuery>;
}

/** The alarms of the stack. @throws DashboardError for one of a kind that is not known here */
export function alarmsOf(stack: LocalStack): AlarmDefinition[] {
  return stack.resources('AWS::CloudWatch::Alarm').map((alarm) => definitionOf(alarm, stack));
}

function definitionOf(
  { logicalId, ref, properties }: Resource<'AWS::CloudWatch::Alarm'>,
  stack: LocalStack,
): AlarmDefinition {
  const result = v.safeParse(propertiesSchema, properties);
  if (!result.success) {
    const [issue] = result.issues;
    throw new DashboardError(`Alarm ${logicalId} is of a kind that is not known here: ${issue.message}`);
  }
  const alarm = result.output;
  return {
    arn: stack.attribute(logicalId, 'Arn'),
    name: alarm.AlarmName ?? ref,
    description: alarm.AlarmDescription,
    evaluationPeriods: alarm.EvaluationPeriods,
    datapointsToAlarm: alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods,
    missingData: alarm.TreatMissingData,
    breaches: (value) => comparisons[alarm.ComparisonOperator](value, alarm.Threshold),
    threshold: alarm.Threshold,
    ...watchedBy(alarm),
  };
}

function watchedBy(alarm: Properties): Pick<AlarmDefinition, 'period' | 'returned' | 'queries'> {
  if (!('Metrics' in alarm)) {
    const { Period: period, Statistic, ExtendedStatistic } = alarm;
    const query = metricQuery(alarm, Statistic ?? ExtendedStatistic ?? '');
    return { period, returned: 'metric', queries: new Map([['metric', query]]) };
  }
  const queries = alarm.Metrics.map((query): [string, MetricQuery] => [
    query.Id,
    'Expression' in query
      ? { kind: 'expression', expression: query.Expression }
      : metricQuery(query.MetricStat.Metric, query.MetricStat.Stat),
  ]);
  const [period] = alarm.Metrics.flatMap((query) => ('MetricStat' in query ? [query.MetricStat.Period] : []));
  const returned = alarm.Metrics.find(({ ReturnData }) => ReturnData)?.Id;
  if (period === undefined || returned === undefined) throw new DashboardError('An alarm watches nothing');
  return { period, returned, queries: new Map(queries) };
}

type MetricProperties = v.InferOutput<v.StrictObjectSchema<typeof metric, undefined>>;

function metricQuery({ Namespace, MetricName, Dimensions }: MetricProperties, statisticName: string): MetricQuery {
  const statistic = statisticOf(statisticName);
  if (!statistic) throw new DashboardError(`The statistic ${statisticName} of ${MetricName} is not known here`);
  const named = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value]));
  return { kind: 'metric', metric: { namespace: Namespace, name: MetricName, dimensions: named }, statistic };
}
