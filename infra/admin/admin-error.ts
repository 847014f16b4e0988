/** A reason why a command cannot do its work, in words that say what to do. Shown without a stack trace. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
}

/** The words of any failure, for a sentence that goes on before it. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message || error.name : String(error);
}
