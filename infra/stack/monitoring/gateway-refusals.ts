import { Stack } from 'aws-cdk-lib';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { ADMITTED } from '../../../shared/http/authorizer-context.ts';
import { METRICS_NAMESPACE } from '../../../shared/request-log.ts';

/** What API Gateway answers by its usage plans and throttles, which must never refuse what the limiter has admitted. */
const REFUSALS = ['INVALID_API_KEY', 'THROTTLED', 'QUOTA_EXCEEDED'];

/** Over the fields of the access log (see inventory-api.ts). */
export const refusedAfterAll = FilterPattern.all(
  FilterPattern.stringValue('$.outcome', '=', ADMITTED),
  FilterPattern.any(...REFUSALS.map((type) => FilterPattern.stringValue('$.gatewayError', '=', type))),
);

/** A metric of a log filter has no dimensions but those of its fields. */
export const gatewayRefusals = (stackName: string): string => `${stackName}-GatewayRefusals`;

/** Counts the lines of such refusals. There is no metric, and nothing to pay, as long as there is none. */
export function countGatewayRefusals(scope: Construct, logGroup: ILogGroup): void {
  new MetricFilter(scope, 'GatewayRefusals', {
    logGroup,
    filterPattern: refusedAfterAll,
    metricNamespace: METRICS_NAMESPACE,
    metricName: gatewayRefusals(Stack.of(scope).stackName),
    metricValue: '1',
  });
}
