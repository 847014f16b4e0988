import { argv } from 'node:process';
import { createApp } from '../../create-app.ts';
import { stages } from '../../stages.ts';

/**
 * Synthesizes the service as deployed to staging, in a separate process: the CDK uses more memory than the
 * rest of the server, and only an exit frees it. The argument is the directory of the cloud assembly, and of the
 * source maps, where the bundles reference them.
 */
const [, , outdir = ''] = argv;
createApp([stages.staging], { outdir, pageFiles: false }).synth();
