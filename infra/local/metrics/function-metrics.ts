import { parseReportLine } from '../lambda/report-line.ts';
import type { LogEvent } from './log-events.ts';
import type { Sample } from './metric-store.ts';

/** The namespace and names of the metrics that Lambda has of every function, as far as a laptop can tell them. */
export const FUNCTION_NAMESPACE = 'AWS/Lambda';
export const functionMetricNames = ['Invocations', 'Errors', 'Throttles', 'Duration'] as const;

/** A function as its metrics name it. */
export interface MeasuredFunction {
  readonly name: string;
  readonly aliases: readonly string[];
}

/**
 * The metrics in the line that ends an invocation. Which alias was called it does not say: it counts for each. The local
 * host lets requests wait where Lambda would throttle.
 */
export function functionMetrics(
  { message, at }: LogEvent,
  { name: FunctionName, aliases }: MeasuredFunction,
): Sample[] {
  const report = parseReportLine(message);
  if (!report) return [];
  const values = {
    Invocations: 1,
    Errors: report.errorType === undefined ? 0 : 1,
    Throttles: 0,
    Duration: report.durationMs,
  } satisfies Record<(typeof functionMetricNames)[number], number>;
  const resources = aliases.map((alias) => ({ FunctionName, Resource: `${FunctionName}:${alias}` }));
  return [{ FunctionName }, ...resources].flatMap((dimensions) =>
    Object.entries(values).map(([name, value]) => ({ namespace: FUNCTION_NAMESPACE, name, dimensions, at, value })),
  );
}
