import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import * as v from 'valibot';
import { createApp } from '../create-app.ts';
import { stages } from '../stages.ts';
import { HostError } from './host-error.ts';

const assetManifestSchema = v.object({
  files: v.record(
    v.string(),
    v.object({
      source: v.object({ path: v.string() }),
      destinations: v.record(v.string(), v.object({ objectKey: v.string() })),
    }),
  ),
});

/** A synthesized stack: its name, its template, and the folder behind each key of the asset bucket. */
export interface SynthesizedStack {
  readonly name: string;
  readonly template: unknown;
  readonly assetFolders: ReadonlyMap<string, string>;
}

/**
 * Synthesises the service as it is deployed to staging.
 *
 * @param folder where the cloud assembly goes
 */
export function synthesize(folder: string): SynthesizedStack {
  const app = createApp([stages.staging], { outdir: folder });
  app.synth();
  const stage = app.node.findChild(stages.staging.name);
  const stack = Stage.isStage(stage) ? stage.synth().stacks[0] : undefined;
  if (!stack) throw new HostError(`The CDK app has no stack for the stage ${stages.staging.name}`);

  const manifestFile = join(stack.assembly.directory, `${stack.id}.assets.json`);
  const template: unknown = stack.template;
  return { name: stack.stackName, template, assetFolders: readAssetFolders(manifestFile, stack.assembly.directory) };
}

function readAssetFolders(manifestFile: string, baseFolder: string): Map<string, string> {
  if (!existsSync(manifestFile)) throw new HostError(`The cloud assembly has no asset manifest ${manifestFile}`);
  const { files } = v.parse(assetManifestSchema, JSON.parse(readFileSync(manifestFile, 'utf8')));
  return new Map(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }) => [objectKey, resolve(baseFolder, source.path)]),
    ),
  );
}
