/** A reason why the local host cannot run, in one line that says what to do. Shown without a stack trace. */
export class HostError extends Error {
  override readonly name = 'HostError';
}
