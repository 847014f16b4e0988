import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
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
      '@smithy/core/event-streams': join(import.meta.dirname, 'no-event-streams.ts'),
    },
  };
}

/** The bundled code of a function in the folder `functions`, as `index.js` with its SDK. No Docker is involved. */
export function bundledFunction(name: string): Code {
  return Code.fromAsset(functionsFolder, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('unused'),
      // Tells the functions apart in the CDK's cache of bundled assets.
      command: [name],
      local: {
        tryBundle(outputFolder) {
          buildSync({ ...bundleOptions(name), outfile: join(outputFolder, 'index.js') });
          writeFileSync(join(outputFolder, 'package.json'), '{"type":"commonjs"}');
          return true;
        },
      },
    },
  });
}
