/** A reason why the local host cannot run, in one line that says what to do. Shown without a stack trace. */
export class HostError extends Error {
  override readonly name = 'HostError';
}

/** Says something on standard error: with `--json`, standard output has one line and nothing else. */
export const writeNotice = (line: string): void => void process.stderr.write(`${line}\n`);
