import { createApp } from '../create-app.ts';
import { stages } from '../stages.ts';
import { readAssembly, type SynthesizedStack } from './assembly.ts';

/**
 * Synthesises the service as it is deployed to staging.
 *
 * @param folder where the cloud assembly goes
 */
export function synthesize(folder: string): SynthesizedStack {
  createApp([stages.staging], { outdir: folder, referencePage: false }).synth();
  return readAssembly(folder);
}
