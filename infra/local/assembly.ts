import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { stackNameOf, stages } from '../stages.ts';
import { HostError } from './host-error.ts';

/** The stage whose stack the local host runs. */
const STAGE = stages.staging.name;

const manifestSchema = v.object({
  artifacts: v.record(
    v.string(),
    v.object({
      type: v.string(),
      properties: v.optional(
        v.object({
          stackName: v.optional(v.string()),
          templateFile: v.optional(v.string()),
          file: v.optional(v.string()),
        }),
      ),
    }),
  ),
});

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
 * Reads the service as it is deployed to staging from a cloud assembly.
 *
 * @throws HostError where the assembly has no such stack
 */
export function readAssembly(folder: string): SynthesizedStack {
  const stageFolder = join(folder, `assembly-${STAGE}`);
  const { artifacts } = readJson(join(stageFolder, 'manifest.json'), manifestSchema);
  const name = stackNameOf(STAGE);
  const stack = Object.entries(artifacts).find(([, { properties }]) => properties?.stackName === name);
  const templateFile = stack?.[1].properties?.templateFile;
  const assetManifest = artifacts[`${stack?.[0]}.assets`]?.properties?.file;
  if (templateFile === undefined || assetManifest === undefined) {
    throw new HostError(`The cloud assembly ${folder} has no stack ${name}`);
  }
  return {
    name,
    template: readJson(join(stageFolder, templateFile), v.unknown()),
    assetFolders: readAssetFolders(join(stageFolder, assetManifest), stageFolder),
  };
}

function readAssetFolders(manifestFile: string, baseFolder: string): Map<string, string> {
  const { files } = readJson(manifestFile, assetManifestSchema);
  return new Map(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }) => [objectKey, resolve(baseFolder, source.path)]),
    ),
  );
}

function readJson<Schema extends v.GenericSchema>(file: string, schema: Schema): v.InferOutput<Schema> {
  if (!existsSync(file)) throw new HostError(`The cloud assembly has no file ${file}`);
  return v.parse(schema, JSON.parse(readFileSync(file, 'utf8')));
}
