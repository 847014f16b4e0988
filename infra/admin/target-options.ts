import type { AnyStageName } from '../stages.ts';

/** Where the service is, at most one of the two. */
export interface TargetOptions {
  /** Address of a local host; {@link DEFAULT_URL} by default. */
  readonly url?: string | undefined;
  /** A deployment on AWS. */
  readonly stage?: AnyStageName | undefined;
}

export const DEFAULT_URL = 'http://localhost:3000';

/** The option that names a service, as the commands in messages need it; empty for the host that needs none. */
export function targetOption({ url, stage }: TargetOptions): string {
  if (stage !== undefined) return `--stage ${stage}`;
  return url === undefined ? '' : `--url ${url}`;
}
