/** Origin of the reference page of the deployment; undefined where it has none. */
export const pageOrigin = (): string | undefined => process.env['PAGE_ORIGIN'];

/** An environment variable that the deployment sets. Throws at start where it is missing. */
export function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}
