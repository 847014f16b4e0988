import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Where a thread finds what Node.js has made of its sources, so that it loads no compiler: 11 MB less. */
export function compileCache(): Record<string, string> {
  // Below the folder, each version of Node.js has one of its own.
  const ofThisVersion = getCompileCacheDir();
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) };
}
