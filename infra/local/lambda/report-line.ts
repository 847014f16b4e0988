/** What Lambda reports of an invocation at its end. */
export interface InvocationReport {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly endedAt: number;
  readonly durationMs: number;
  /** What the function took to load; undefined where it was loaded already. */
  readonly initMs: number | undefined;
  readonly memoryMegabytes: number;
  readonly usedMegabytes: number;
  /** Why it failed, as Lambda names it; undefined where it did not. */
  readonly errorType: string | undefined;
}

/** How Lambda names a function that did not end in time. */
export const TIMED_OUT = 'Sandbox.Timedout';

/**
 * The line that Lambda writes at the end of an invocation (Lambda developer guide, "Runtime environment lifecycle"). The
 * time before it is kept beside the text by CloudWatch Logs; a file has only text.
 */
export function reportLine(report: InvocationReport): string {
  const { requestId, endedAt, durationMs, initMs, memoryMegabytes, usedMegabytes, errorType } = report;
  const fields = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${durationMs.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(durationMs + (initMs ?? 0))} ms`,
    `Memory Size: ${memoryMegabytes} MB`,
    `Max Memory Used: ${usedMegabytes} MB`,
    initMs !== undefined && `Init Duration: ${initMs.toFixed(2)} ms`,
    errorType !== undefined && statusOf(errorType),
  ];
  return `${new Date(endedAt).toISOString()}\t${fields.filter((field) => field !== false).join('\t')}\n`;
}

function statusOf(errorType: string): string {
  return errorType === TIMED_OUT ? 'Status: timeout' : `Status: error\tError Type: ${errorType}`;
}
