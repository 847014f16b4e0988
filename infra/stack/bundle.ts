import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';

const functionsFolder = join(import.meta.dirname, '../../functions');

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
    alias: {
      '@aws-sdk/credential-provider-node': join(import.meta.dirname, 'lambda-credentials.ts'),
      '@aws-sdk/middleware-endpoint-discovery': join(import.meta.dirname, 'no-endpoint-discovery.ts'),
      '@smithy/core/event-streams': join(import.meta.dirname, 'no-event-streams.ts'),
    },
  };
}

/** Bundles a function into a new temporary folder, as `index.js` with its SDK. No Docker is involved. */
export function bundleFunction(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  buildSync({ ...bundleOptions(name), outfile: join(folder, 'index.js') });
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
  return folder;
}
