/** A reason why a command of the pipeline cannot do its work, in one line. Shown without a stack trace. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}
