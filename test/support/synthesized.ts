import * as v from 'valibot';
import { readAssembly } from '../../infra/local/assembly.ts';
import type { StageName } from '../../infra/stages.ts';
import { synthesizedOnce } from './synthesize-once.ts';

const templateSchema = v.looseObject({
  Description: v.string(),
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown())) }),
  ),
  Outputs: v.record(v.string(), v.looseObject({ Value: v.unknown() })),
});

/** What `cdk deploy` gets for the API of one stage. */
export interface SynthesizedStage {
  readonly template: v.InferOutput<typeof templateSchema>;
  /** The folder behind each key of the asset bucket. */
  readonly assetFolders: ReadonlyMap<string, string>;
}

function synthesized(stage: StageName): SynthesizedStage {
  const { template, assetFolders } = readAssembly(synthesizedOnce(), stage);
  return { template: v.parse(templateSchema, template), assetFolders };
}

/** Both stages, as `cdk deploy` has them. */
export const synthesizedStages = (): Record<StageName, SynthesizedStage> => ({
  staging: synthesized('staging'),
  production: synthesized('production'),
});

/** A resource of a template: its logical id and what a test wants of its properties. */
export interface TemplateResource<Properties> {
  readonly id: string;
  readonly properties: Properties;
}

/** All resources of a type, but for the CDK's own, by which a deploy proves a release. A property that the schema wants and a resource lacks fails the test. */
export function resourcesOf<Schema extends v.GenericSchema>(
  { template }: SynthesizedStage,
  type: string,
  properties: Schema,
): TemplateResource<v.InferOutput<Schema>>[] {
  return Object.entries(template.Resources)
    .filter(([id, { Type }]) => Type === type && !id.startsWith('AWSCDKTrigger'))
    .map(([id, { Properties }]) => ({ id, properties: v.parse(properties, Properties) }));
}

/** A logical id without the hash that the CDK ends it with. */
export const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}(?=$|\.)/, '');
