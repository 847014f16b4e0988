import { parseReportLine } from '../../local/lambda/report-line.ts';
import { isRecord, type LogEvent } from '../../local/metrics/log-events.ts';

/** A row of a query: what a field is, by its name. */
export type LogRecord = Readonly<Record<string, unknown>>;

const BYTES_PER_MEGABYTE = 1e6;

/**
 * A line as Logs Insights sees it: the fields of its JSON, inner ones behind a dot, and those that it finds by itself
 * (CloudWatch Logs user guide, "Supported logs and discovered fields").
 */
export function recordOf({ logGroup, at, message, fields }: LogEvent): LogRecord {
  return {
    ...(fields && flat(fields)),
    ...reportFields(message),
    '@timestamp': new Date(at).toISOString(),
    '@message': message,
    '@log': logGroup,
  };
}

function flat(fields: Readonly<Record<string, unknown>>, prefix = ''): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] =>
    isRecord(value) ? Object.entries(flat(value, `${prefix}${name}.`)) : [[`${prefix}${name}`, value]],
  );
  return Object.fromEntries(entries);
}

function reportFields(message: string): Record<string, unknown> {
  const report = parseReportLine(message);
  if (!report) return {};
  return {
    '@type': 'REPORT',
    '@requestId': report.requestId,
    '@duration': report.durationMs,
    ...(report.initMs !== undefined && { '@initDuration': report.initMs }),
    '@memorySize': report.memoryMegabytes * BYTES_PER_MEGABYTE,
    '@maxMemoryUsed': report.usedMegabytes * BYTES_PER_MEGABYTE,
  };
}
