import * as v from 'valibot';

const reportSchema = v.object({ record: v.object({ metrics: v.object({ durationMs: v.number() }) }) });

/** What a line of the local host's log says of an invocation; undefined for any other line. */
export function parseReportLine(line: string) {
  if (!line.includes('"platform.report"')) return undefined;
  return v.parse(reportSchema, JSON.parse(line)).record.metrics;
}
