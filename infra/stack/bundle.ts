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
export function bundleFunction(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  bundleInto(folder, { [name]: '' });
  return folder;
}

/** Bundles functions in one pass, which takes half of the time. @param outputs by their names, the folders within the folder */
function bundleInto(folder: string, outputs: Readonly<Record<string, string>>): void {
  const entryPoints = Object.entries(outputs).map(([name, output]) => ({
    in: join(functionsFolder, `${name}.ts`),
    out: join(output, 'function'),
  }));
  buildSync({ ...bundleOptions(''), entryPoints, outdir: folder, outExtension: { '.js': '.cjs' } });
  for (const output of Object.values(outputs)) writeFileSync(join(folder, output, 'index.mjs'), lambdaModule);
}

let bundles: string | undefined;

/** The bundle of a function. All are made at the first call, and are there as long as the process: all stages have the same. */
export function bundleOf(name: string): string {
  if (bundles === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'functions-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const names = readdirSync(functionsFolder).flatMap((file) => /^(.+)\.ts$/.exec(file)?.[1] ?? []);
    bundleInto(folder, Object.fromEntries(names.map((each) => [each, each])));
    bundles = folder;
  }
  return join(bundles, name);
}
