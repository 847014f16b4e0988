import { appendFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

export const functionsDirectory = join(import.meta.dirname, '../../functions');

/** They call more than DynamoDB, outside of requests, so they use the original SDK. */
const WITH_WHOLE_SDK: ReadonlySet<string> = new Set(['publish-stock-changes', 'sync-keys']);

const part = (file: string): string => join(import.meta.dirname, 'minimal-dynamodb-client', file);

type Files = Readonly<Record<string, string>>;

/** Module aliases for the functions of requests. They use no more of the SDK than what these modules import. */
const parts: Files = {
  '@aws-sdk/client-dynamodb': part('client-dynamodb.ts'),
  '@aws-sdk/lib-dynamodb': part('lib-dynamodb.ts'),
  'node:stream/web': join(import.meta.dirname, 'web-streams-stub.ts'),
};

/**
 * The module that Lambda loads. A CommonJS bundle starts faster, but only an ES module can await the function's
 * `initialize`, if any, before the first request. (`import` would parse the whole bundle for its exports.)
 */
const lambdaModule = `import { createRequire } from 'node:module';
const { handler, initialize } = createRequire(import.meta.url)('./function.cjs');
await initialize?.();
export { handler };
`;

/**
 * Bundles modules in one pass, each into a directory of its name: `function.cjs` with its SDK, tree-shaken, and
 * `index.mjs`. Each source map is next to the directory, as `NAME.map`, so it does not affect the asset's hash.
 */
export function bundleInto(directory: string, files: Files, alias = parts): void {
  buildSync({
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    // The sources are relative to a bundle's directory. With it, the maps can be anywhere.
    sourceRoot: pathToFileURL(join(directory, 'name/')).href,
    // An `import('node:http')` evaluates every export, some of which load large parts of Node.
    supported: { 'dynamic-import': false },
    alias: { ...alias },
    // Detecting it loads Web Crypto, which is unused: all parts use node:crypto.
    define: { crypto: 'undefined' },
    entryPoints: Object.entries(files).map(([name, file]) => ({ in: file, out: join(name, 'function') })),
    outdir: directory,
    outExtension: { '.js': '.cjs' },
  });
  for (const name of Object.keys(files)) {
    writeFileSync(join(directory, name, 'index.mjs'), lambdaModule);
    appendFileSync(join(directory, name, 'function.cjs'), `//# sourceMappingURL=../${name}.map\n`);
    renameSync(join(directory, name, 'function.cjs.map'), join(directory, `${name}.map`));
  }
}

/** The source files of the functions, by their names. */
export const functionFiles = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(functionsDirectory)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [basename(file, '.ts'), join(functionsDirectory, file)]),
  );

let bundles: string | undefined;

/** The bundle of a function. The first call of a process bundles all of them, in its `outdir`: stages share them. */
export function bundleOf(name: string, outdir: string): string {
  if (bundles === undefined) bundleFunctions(outdir, Object.keys(functionFiles()));
  bundles ??= outdir;
  return join(bundles, name);
}

/** Bundles functions, as {@link bundleInto} does, by their names. */
export function bundleFunctions(directory: string, names: readonly string[]): void {
  const files = Object.entries(functionFiles()).filter(([name]) => names.includes(name));
  const { whole = [], lean = [] } = Object.groupBy(files, ([name]) => (WITH_WHOLE_SDK.has(name) ? 'whole' : 'lean'));
  if (whole.length > 0) bundleInto(directory, Object.fromEntries(whole), {});
  if (lean.length > 0) bundleInto(directory, Object.fromEntries(lean));
}
