import type { LogEvent } from './log-events.ts';
import type { Sample } from './metric-store.ts';

/** The namespace and names of the metrics that CloudWatch Logs has of every log group. */
export const LOGS_NAMESPACE = 'AWS/Logs';
export const logGroupMetricNames = ['IncomingBytes', 'IncomingLogEvents'] as const;

/** What a line adds to the metrics of its log group. */
export function logGroupMetrics({ logGroup, at, message }: LogEvent): Sample[] {
  const values = {
    IncomingBytes: Buffer.byteLength(message),
    IncomingLogEvents: 1,
  } satisfies Record<(typeof logGroupMetricNames)[number], number>;
  const dimensions = { LogGroupName: logGroup };
  return Object.entries(values).map(([name, value]) => ({ namespace: LOGS_NAMESPACE, name, dimensions, at, value }));
}
