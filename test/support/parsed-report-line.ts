import * as v from 'valibot';

const reportSchema = v.object({
  type: v.literal('platform.report'),
  record: v.object({
    metrics: v.object({ durationMs: v.number(), initDurationMs: v.optional(v.number()) }),
    status: v.string(),
    errorType: v.optional(v.string()),
  }),
});

/** What a line of the local host's log says of an invocation; undefined for any other line. */
export function parseReportLine(line: string) {
  if (!line.includes('"platform.report"')) return undefined;
  const { record } = v.parse(reportSchema, JSON.parse(line));
  return { ...record.metrics, status: record.status, errorType: record.errorType };
}
