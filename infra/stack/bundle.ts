import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';

const functionsFolder = join(import.meta.dirname, '../../functions');
const standIns = join(import.meta.dirname, 'sdk-stand-ins.ts');

/** How every function is bundled: what starts fastest (CommonJS, ES module sources, only what a Lambda uses). */
export function bundleOptions(name: string): BuildOptions {
  return {
    entryPoints: [join(functionsFolder, `${name}.ts`)],
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    // An `import('node:http')` reads every export of it, and some of these load half of Node.
    supported: { 'dynamic-import': false },
    alias: {
      '@aws-sdk/credential-provider-node': standIns,
      '@aws-sdk/middleware-endpoint-discovery': standIns,
      '@smithy/core/event-streams': standIns,
    },
  };
}

/**
 * What Lambda loads. A CommonJS bundle starts faster, but only an ES module can wait while it loads: for the function's
 * `initialise`, where it has one, before the first request. (`import` would read all of the bundle for its exports.)
 */
const lambdaModule = `import { createRequire } from 'node:module';
const { handler, initialise } = createRequire(import.meta.url)('./function.cjs');
await initialise?.();
export { handler };
`;

/** Bundles a function into a new temporary folder: `function.cjs` with its SDK, and `index.mjs`. No Docker is involved. */
export const bundleFunction = (name: string): string => join(bundleTogether([name]), name);

/** Bundles functions into a new temporary folder, each into one of its name. Together they take half of the time. */
function bundleTogether(names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  const entryPoints = names.map((name) => ({ in: join(functionsFolder, `${name}.ts`), out: join(name, 'function') }));
  buildSync({ ...bundleOptions(''), entryPoints, outdir: folder, outExtension: { '.js': '.cjs' } });
  for (const name of names) writeFileSync(join(folder, name, 'index.mjs'), lambdaModule);
  return folder;
}

let bundles: string | undefined;

/** The bundle of a function. All are made at the first call, and are there as long as the process: all stages have the same. */
export function bundleOf(name: string): string {
  if (bundles === undefined) {
    const made = bundleTogether(readdirSync(functionsFolder).map((file) => file.replace(/\.ts$/, '')));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    bundles = made;
  }
  return join(bundles, name);
}
