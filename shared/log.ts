/** Logs a failure as one line of JSON. Never pass a key, or data that could reveal one. */
export function logError(message: string, error: unknown, details: Readonly<Record<string, string>> = {}): void {
  const { name, message: reason, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const rootCause = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
  const line = { level: 'ERROR', message, ...details, error: { name, reason, rootCause, stack } };
  // Lambda would wrap a console method's line as text within its own JSON.
  process.stderr.write(`${JSON.stringify(line)}\n`);
}

/** The message of any failure. For connections, and stores that cannot be opened, it is in the cause. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const isEmpty = error instanceof Error && /^fetch failed$|^Database failed to open$/.test(error.message);
  if (isEmpty && error.cause instanceof Error) return messageOf(error.cause);
  return error instanceof Error ? error.message || error.name : String(error);
}
