/** From which level on Lambda writes lines of its own: of every invocation, or of one that has failed. */
export type SystemLogLevel = 'INFO' | 'WARN';

/** What Lambda reports of an invocation at its end. */
export interface InvocationReport {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly endedAt: number;
  readonly durationMs: number;
  /** What the function took to load; undefined where it was loaded already. */
  readonly initMs: number | undefined;
  readonly memoryMegabytes: number;
  /** Why it failed, as Lambda names it; undefined where it did not. */
  readonly errorType: string | undefined;
}

/** How Lambda names a function that did not end in time. */
export const TIMED_OUT = 'Sandbox.Timedout';

/** The line that Lambda writes at the end of an invocation (Lambda Telemetry API, `platform.report`). */
export function reportLine(report: InvocationReport): string {
  const { requestId, endedAt, durationMs, initMs, memoryMegabytes, errorType } = report;
  const metrics = {
    durationMs: round(durationMs),
    billedDurationMs: Math.ceil(durationMs + (initMs ?? 0)),
    memorySizeMB: memoryMegabytes,
    ...(initMs !== undefined && { initDurationMs: round(initMs) }),
  };
  const record = { requestId, metrics, status: statusOf(errorType), ...(errorType !== undefined && { errorType }) };
  return `${JSON.stringify({ time: new Date(endedAt).toISOString(), type: 'platform.report', record })}\n`;
}

const round = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000;

function statusOf(errorType: string | undefined): string {
  if (errorType === undefined) return 'success';
  return errorType === TIMED_OUT ? 'timeout' : 'error';
}
