import type { AnyStageName } from '../../stages.ts';

/** Address of the service: at most one of the two. */
export interface TargetOptions {
  /** Address of a local server; {@link DEFAULT_URL} by default. */
  readonly url?: string | undefined;
  /** Stage on AWS. */
  readonly stage?: AnyStageName | undefined;
}

export const DEFAULT_URL = 'http://localhost:3000';

/** The option that selects the service, for commands in messages; empty for the default address. */
export function targetOption({ url, stage }: TargetOptions): string {
  if (stage !== undefined) return `--stage ${stage}`;
  return url === undefined ? '' : `--url ${url}`;
}
