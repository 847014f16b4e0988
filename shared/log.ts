/** Logs a failure as one line of JSON. Never pass a key, or anything a key could be rebuilt from. */
export function logError(message: string, error: unknown, details: Readonly<Record<string, string>> = {}): void {
  const { name, message: reason, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const rootCause = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
  const line = { level: 'ERROR', message, ...details, error: { name, reason, rootCause, stack } };
  // Lambda would make the line of a console method a text within its own JSON.
  process.stderr.write(`${JSON.stringify(line)}\n`);
}

/** The words of any failure. Those of a connection, and of a store that cannot be opened, are in its cause. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const isEmpty = error instanceof Error && /^fetch failed$|^Database failed to open$/.test(error.message);
  if (isEmpty && error.cause instanceof Error) return messageOf(error.cause);
  return error instanceof Error ? error.message || error.name : String(error);
}
