/** A reason why the local server cannot run, in one line with a remedy. Shown without a stack trace. */
export class HostError extends Error {
  override readonly name = 'HostError';
}

/** Prints a line on standard error: with `--json`, standard output has exactly one line. */
export const writeNotice = (line: string): void => void process.stderr.write(`${line}\n`);
