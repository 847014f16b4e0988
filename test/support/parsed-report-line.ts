import { type InvocationReport, TIMED_OUT } from '../../infra/local/lambda/report-line.ts';

/** Reads a line of the local host's log. @returns undefined for any other line */
export function parseReportLine(line: string): InvocationReport | undefined {
  const [time = '', first = '', ...rest] = line.trimEnd().split('\t');
  if (!first.startsWith('REPORT RequestId: ')) return undefined;
  const fields = new Map(rest.map((field) => splitField(field)));
  const number = (name: string): number => Number.parseFloat(fields.get(name) ?? '');
  const status = fields.get('Status');
  return {
    requestId: first.slice('REPORT RequestId: '.length),
    endedAt: Date.parse(time),
    durationMs: number('Duration'),
    initMs: fields.has('Init Duration') ? number('Init Duration') : undefined,
    memoryMegabytes: number('Memory Size'),
    usedMegabytes: number('Max Memory Used'),
    errorType: status === 'timeout' ? TIMED_OUT : fields.get('Error Type'),
  };
}

function splitField(field: string): [name: string, value: string] {
  const colon = field.indexOf(': ');
  return [field.slice(0, colon), field.slice(colon + 2)];
}
