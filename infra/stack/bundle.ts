import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import type { DynamoDBParts } from '../stages.ts';

const functionsFolder = join(import.meta.dirname, '../../functions');

/** Calls API Gateway too, and pages through the whole table: it is no part of a request, and has the whole SDK. */
const WHOLE_ALWAYS = 'sync-keys';

const wholeStandIns = join(import.meta.dirname, 'whole-sdk-stand-ins.ts');
const webStreamsStandIn = join(import.meta.dirname, 'web-streams-stand-in.ts');
const part = (file: string): string => join(import.meta.dirname, 'dynamodb-parts', file);

/** Folder of the ES modules of a package, some of which it exports in its index only. A version that moves one of them cannot be bundled. */
const modulesOf = (name: string): string => join(dirname(fileURLToPath(import.meta.resolve(name))), '../dist-es');

/** What a bundle has in the place of packages. */
const aliases: Readonly<Record<DynamoDBParts, Record<string, string>>> = {
  parts: {
    '@aws-sdk/client-dynamodb': part('client-dynamodb.ts'),
    '@aws-sdk/client-dynamodb/dist-es': modulesOf('@aws-sdk/client-dynamodb'),
    '@aws-sdk/lib-dynamodb': part('lib-dynamodb.ts'),
    '@aws-sdk/lib-dynamodb/dist-es': modulesOf('@aws-sdk/lib-dynamodb'),
    '@aws-sdk/core/client': part('core-client.ts'),
    '@smithy/core/client': part('core-client.ts'),
    '@smithy/core/dist-es': modulesOf('@smithy/core'),
    // Imported when it is wanted, which is never; whatever it imports could not be put in line with the rest.
    '@smithy/core/event-streams': part('core-client.ts'),
  },
  whole: {
    '@aws-sdk/credential-provider-node': wholeStandIns,
    '@aws-sdk/middleware-endpoint-discovery': wholeStandIns,
    '@smithy/core/event-streams': wholeStandIns,
  },
};

/** How everything is bundled: what starts fastest (CommonJS, ES module sources, only what a Lambda uses). */
export const bundleOptions = (dynamodb: DynamoDBParts): BuildOptions => ({
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  // An `import('node:http')` reads every export of it, and some of these load half of Node.
  supported: { 'dynamic-import': false },
  alias: { ...aliases[dynamodb], 'node:stream/web': webStreamsStandIn },
  // Looking for it loads Web Crypto, of which no part makes use: all have node:crypto.
  define: { crypto: 'undefined' },
  // Its paths are for types.
  tsconfigRaw: {},
});

/**
 * What Lambda loads. A CommonJS bundle starts faster, but only an ES module can wait while it loads: for the function's
 * `initialise`, where it has one, before the first request. (`import` would read all of the bundle for its exports.)
 */
const lambdaModule = `import { createRequire } from 'node:module';
const { handler, initialise } = createRequire(import.meta.url)('./function.cjs');
await initialise?.();
export { handler };
`;

const buildOptions = (folder: string, files: Readonly<Record<string, string>>, dynamodb: DynamoDBParts) => ({
  ...bundleOptions(dynamodb),
  entryPoints: Object.entries(files).map(([name, file]) => ({ in: file, out: join(name, 'function') })),
  outdir: folder,
  outExtension: { '.js': '.cjs' },
});

/** How all functions are bundled, each to `function.cjs` in a folder of its name: the sync apart from the others. */
export function buildsOfFunctions(dynamodb: DynamoDBParts): BuildOptions[] {
  const { [WHOLE_ALWAYS]: own = '', ...ofRequests } = functionFiles();
  return [buildOptions('/', { [WHOLE_ALWAYS]: own }, 'whole'), buildOptions('/', ofRequests, dynamodb)];
}

/** Bundles modules in one pass, each into a folder of its name: `function.cjs` with its SDK, and `index.mjs`. No Docker is involved. */
export function bundleInto(folder: string, files: Readonly<Record<string, string>>, dynamodb: DynamoDBParts): void {
  buildSync(buildOptions(folder, files, dynamodb));
  for (const name of Object.keys(files)) writeFileSync(join(folder, name, 'index.mjs'), lambdaModule);
}

/** The source files of the functions, by their names. */
export const functionFiles = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(functionsFolder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [basename(file, '.ts'), join(functionsFolder, file)]),
  );

const bundles = new Map<string, string>();

/** The bundle of a function. Those of all are made at the first call, and are there as long as the process: stages share them. */
export function bundleOf(name: string, dynamodb: DynamoDBParts): string {
  const { [WHOLE_ALWAYS]: own = '', ...ofRequests } = functionFiles();
  const folder =
    name === WHOLE_ALWAYS ? bundledOnce(name, { [name]: own }, 'whole') : bundledOnce(dynamodb, ofRequests, dynamodb);
  return join(folder, name);
}

function bundledOnce(id: string, files: Readonly<Record<string, string>>, dynamodb: DynamoDBParts): string {
  const known = bundles.get(id);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundleInto(folder, files, dynamodb);
  bundles.set(id, folder);
  return folder;
}
