/** A reason why the local host cannot run, in one line that says what to do. Shown without a stack trace. */
export class HostError extends Error {
  override readonly name = 'HostError';
}

/** The words of any failure: of its cause where it has one. Node.js has none for several addresses that all failed. */
export function messageOf(error: unknown): string {
  if (error instanceof Error && error.cause instanceof Error) return messageOf(error.cause);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(String).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** Says something on standard error: with `--json`, standard output has one line and nothing else. */
export const writeNotice = (line: string): void => void process.stderr.write(`${line}\n`);
