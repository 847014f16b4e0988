import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Node.js's compile cache for a thread, which then loads no compiler: 11 MB less. */
export function compileCache(): Record<string, string> {
  // Each version of Node.js has a subdirectory.
  const ofThisVersion = getCompileCacheDir();
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) };
}
