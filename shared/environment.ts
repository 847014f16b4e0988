/** Origin of the reference page of the deployment; undefined if it has none. */
export const pageOrigin = (): string | undefined => process.env['PAGE_ORIGIN'];

/** An environment variable of the deployment. Throws at start if it is missing. */
export function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}
