/** Logs a failure as one line of JSON. Never pass a key, or anything a key could be rebuilt from. */
export function logError(message: string, error: unknown, details: Readonly<Record<string, string>> = {}): void {
  const { name, message: reason, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const rootCause = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
  const line = { level: 'ERROR', message, ...details, error: { name, reason, rootCause, stack } };
  // Lambda would make the line of a console method a text within its own JSON.
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
