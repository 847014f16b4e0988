import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { createApp } from '../../create-app.ts';
import { bundleOf, functionFiles } from '../../stack/bundle.ts';
import { stages } from '../../stages.ts';

/**
 * Synthesizes the service as it is deployed to staging. A process of its own: the CDK takes more memory than all the
 * rest of the host, and only its end gives that back. Its argument is the folder where the cloud assembly goes, and the
 * source maps beside the assets, where the bundles look for them.
 */
const [, , outdir = ''] = argv;
createApp([stages.staging], { outdir, referencePage: false }).synth();
for (const name of Object.keys(functionFiles())) copyFileSync(`${bundleOf(name)}.map`, join(outdir, `${name}.map`));
