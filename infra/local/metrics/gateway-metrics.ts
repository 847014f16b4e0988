import type { LogEvent } from './log-events.ts';
import type { Sample } from './metric-store.ts';

/** The namespace and names of the metrics that API Gateway has of every stage and method. */
export const GATEWAY_NAMESPACE = 'AWS/ApiGateway';
export const gatewayMetricNames = ['Count', '4XXError', '5XXError', 'Latency', 'IntegrationLatency'] as const;

/** A stage as its metrics name it, and how to read its access log. */
export interface MeasuredStage {
  readonly apiName: string;
  readonly stage: string;
  /** Format of an access log line: JSON whose values are variables such as `$context.status`. */
  readonly format: string;
}

/** What the access log says of a request: `$context` variables by their names. */
function contextOf(fields: Readonly<Record<string, unknown>>, format: string): Map<string, string> {
  const variables: unknown = JSON.parse(format);
  return new Map(
    Object.entries(variables ?? {}).flatMap(([field, variable]) => {
      const value = fields[field];
      const isSet = typeof variable === 'string' && typeof value === 'string' && value !== '-';
      return isSet ? [[variable.replace('$context.', ''), value]] : [];
    }),
  );
}

/** The metrics in a line of the access log: of the stage, and of the method where one was found for the request. */
export function gatewayMetrics({ fields, at }: LogEvent, { apiName, stage, format }: MeasuredStage): Sample[] {
  const context = contextOf(fields ?? {}, format);
  const status = context.get('status');
  if (status === undefined) return [];
  const values: Partial<Record<(typeof gatewayMetricNames)[number], number>> = {
    Count: 1,
    '4XXError': status.startsWith('4') ? 1 : 0,
    '5XXError': status.startsWith('5') ? 1 : 0,
    ...latency('Latency', context.get('responseLatency')),
    ...latency('IntegrationLatency', context.get('integrationLatency')),
  };
  const ofStage = { ApiName: apiName, Stage: stage };
  const Resource = context.get('resourcePath');
  const Method = context.get('httpMethod');
  const isRouted = Resource !== undefined && Method !== undefined;
  return [ofStage, ...(isRouted ? [{ ...ofStage, Resource, Method }] : [])].flatMap((dimensions) =>
    Object.entries(values).map(([name, value]) => ({ namespace: GATEWAY_NAMESPACE, name, dimensions, at, value })),
  );
}

/** What the gateway answers by itself has no latency of an integration. */
function latency(name: 'Latency' | 'IntegrationLatency', text: string | undefined): { [name]?: number } {
  return text === undefined ? {} : { [name]: Number(text) };
}
