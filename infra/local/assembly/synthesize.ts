import { argv } from 'node:process';
import { createApp } from '../../create-app.ts';
import { stages } from '../../stages.ts';

/**
 * Synthesises the service as it is deployed to staging. A process of its own: the CDK takes more memory than all the
 * rest of the host, and only its end gives that back. Its argument is the folder where the cloud assembly goes.
 */
const [, , outdir = ''] = argv;
createApp([stages.staging], { outdir, referencePage: false }).synth();
