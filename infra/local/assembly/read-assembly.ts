import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { stackNameOf, type StageName } from '../../stages.ts';
import { LocalServerError } from '../local-server-error.ts';

/** The stage whose stack the local server runs. */
const LOCAL_STAGE: StageName = 'staging';

/** Stacks and their asset manifests among the artifacts of an assembly. */
const propertiesSchema = v.partial(v.object({ stackName: v.string(), templateFile: v.string(), file: v.string() }));

const manifestSchema = v.object({
  artifacts: v.record(v.string(), v.object({ properties: v.optional(propertiesSchema, {}) })),
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

/** A synthesized stack: its name, its template, and the directory of each key in the asset bucket. */
export interface SynthesizedStack {
  readonly name: string;
  readonly template: unknown;
  readonly assetDirectories: ReadonlyMap<string, string>;
}

/**
 * Reads the service of a stage from a cloud assembly, by default the stage of the local server.
 *
 * @throws LocalServerError if the assembly has no such stack
 */
export function readAssembly(directory: string, stage: StageName = LOCAL_STAGE): SynthesizedStack {
  const stageDirectory = join(directory, `assembly-${stage}`);
  const { artifacts } = readJson(join(stageDirectory, 'manifest.json'), manifestSchema);
  const name = stackNameOf(stage);
  const [id, stack] = Object.entries(artifacts).find(([, { properties }]) => properties.stackName === name) ?? [];
  const templateFile = stack?.properties.templateFile;
  const assetManifest = artifacts[`${id}.assets`]?.properties.file;
  if (templateFile === undefined || assetManifest === undefined) {
    throw new LocalServerError(`The cloud assembly ${directory} has no stack ${name}`);
  }
  return {
    name,
    template: readJson(join(stageDirectory, templateFile), v.unknown()),
    assetDirectories: readAssetDirectories(join(stageDirectory, assetManifest), stageDirectory),
  };
}

function readAssetDirectories(manifestFile: string, baseDirectory: string): Map<string, string> {
  const { files } = readJson(manifestFile, assetManifestSchema);
  const directories = Object.values(files).flatMap(({ source, destinations }) =>
    Object.values(destinations).map(({ objectKey }) => [objectKey, resolve(baseDirectory, source.path)] as const),
  );
  return new Map(directories);
}

function readJson<Schema extends v.GenericSchema>(file: string, schema: Schema): v.InferOutput<Schema> {
  if (!existsSync(file)) throw new LocalServerError(`The cloud assembly has no file ${file}`);
  return v.parse(schema, JSON.parse(readFileSync(file, 'utf8')));
}
