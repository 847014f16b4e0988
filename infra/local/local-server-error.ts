import { visible } from '../failures.ts';

/** A reason why the local server cannot run, in one line with a remedy. Shown without a stack trace. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';

  /** @param message may quote untrusted text, such as a damaged file */
  constructor(message: string) {
    super(visible(message.replaceAll('\n', ' ')));
  }
}

/** Prints a line on standard error: with `--json`, standard output has exactly one line. */
export const writeNotice = (line: string): void => void process.stderr.write(`${line}\n`);
