import { join } from 'node:path';
import { argv } from 'node:process';
import { buildSync } from 'esbuild';
import { createApp } from '../create-app.ts';
import { stages } from '../stages.ts';
import { RUNTIME_FILE } from './assembly.ts';

/**
 * Synthesises the service as it is deployed to staging. A process of its own: the CDK takes more memory than all the
 * rest of the host, and only its end gives that back. Its argument is the folder where the cloud assembly goes.
 *
 * With it goes the runtime of the functions as JavaScript: each of their threads would otherwise load a compiler, of
 * 11 MB, that takes the types out of it.
 */
const [, , outdir = ''] = argv;
createApp([stages.staging], { outdir, referencePage: false }).synth();

buildSync({
  entryPoints: [join(import.meta.dirname, 'lambda/runtime.worker.ts')],
  outfile: join(outdir, RUNTIME_FILE),
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
});
