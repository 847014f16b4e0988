import type { LocalStack } from '../template/stack.ts';
import { embeddedMetrics } from './embedded-metrics.ts';
import { FUNCTION_NAMESPACE, functionMetricNames, functionMetrics, type MeasuredFunction } from './function-metrics.ts';
import { GATEWAY_NAMESPACE, gatewayMetricNames, gatewayMetrics, type MeasuredStage } from './gateway-metrics.ts';
import type { LogEvent } from './log-events.ts';
import { logGroupMetricNames, logGroupMetrics, LOGS_NAMESPACE } from './log-group-metrics.ts';
import { type MetricIdentity, MetricStore, type Sample } from './metric-store.ts';

/** The metrics that AWS makes by itself and that a local run tells too. */
const measured: Readonly<Record<string, ReadonlySet<string>>> = {
  [FUNCTION_NAMESPACE]: new Set(functionMetricNames),
  [GATEWAY_NAMESPACE]: new Set(gatewayMetricNames),
  [LOGS_NAMESPACE]: new Set(logGroupMetricNames),
};

/** Whether the logs of a local run tell a metric. Those of our own namespaces stand in them as they do on AWS. */
export function isMeasured({ namespace, name }: Pick<MetricIdentity, 'namespace' | 'name'>): boolean {
  return !namespace.startsWith('AWS/') || (measured[namespace]?.has(name) ?? false);
}

/** Makes the metrics of a local run from its logs, as CloudWatch has them of the deployed stack. */
export function localMetrics(events: readonly LogEvent[], stack: LocalStack): MetricStore {
  const functions = functionsByLogGroup(stack);
  const stages = stagesByLogGroup(stack);
  return new MetricStore(
    events.flatMap((event): Sample[] => {
      const lambda = functions.get(event.logGroup);
      const stage = stages.get(event.logGroup);
      return [
        ...logGroupMetrics(event),
        ...(stage ? gatewayMetrics(event, stage) : []),
        ...(lambda ? [...embeddedMetrics(event), ...functionMetrics(event, lambda)] : []),
      ];
    }),
  );
}

function functionsByLogGroup(stack: LocalStack): Map<string, MeasuredFunction> {
  const aliases = stack.resources('AWS::Lambda::Alias').map(({ properties }) => properties);
  return new Map(
    stack.resources('AWS::Lambda::Function').map(({ ref: name, properties }) => [
      properties.LoggingConfig.LogGroup,
      {
        name,
        aliases: aliases.filter(({ FunctionName }) => FunctionName === name).map((alias) => alias.Name),
      },
    ]),
  );
}

function stagesByLogGroup(stack: LocalStack): Map<string, MeasuredStage> {
  const apiNames = new Map(stack.resources('AWS::ApiGateway::RestApi').map((api) => [api.ref, api.properties.Name]));
  return new Map(
    stack.resources('AWS::ApiGateway::Stage').flatMap(({ properties }) => {
      const { RestApiId, StageName: stage, AccessLogSetting: accessLog } = properties;
      const apiName = apiNames.get(RestApiId);
      const logGroup = accessLog?.DestinationArn.split(':').at(-1);
      if (!accessLog || apiName === undefined || logGroup === undefined) return [];
      return [[logGroup, { apiName, stage, format: accessLog.Format }]];
    }),
  );
}
