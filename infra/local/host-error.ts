/** A reason why the local host cannot run, in one line that says what to do. Shown without a stack trace. */
export class HostError extends Error {
  override readonly name = 'HostError';
}

/** The words of any failure. Node.js leaves them out of a connection that failed on several addresses. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(String).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** Says something on standard error: with `--json`, standard output has one line and nothing else. */
export const writeNotice = (line: string): void => void process.stderr.write(`${line}\n`);
