import { type App, Stage } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as v from 'valibot';
import { createApp } from '../../infra/create-app.ts';
import { type StageSettings, stages } from '../../infra/stages.ts';

/** What `cdk deploy` gets for one stage. */
export interface SynthesizedStage {
  readonly template: Template;
  /** Folder of the stage's assembly; the assets are in the one around it. */
  readonly folder: string;
  /** The asset manifest of the stack. */
  readonly assetManifest: string;
}

type Stages = Record<keyof typeof stages, SynthesizedStage>;

/** Synthesises both stages, as `cdk deploy` does. */
export function synthesizeStages(folder: string): Stages {
  return synthesizedBy(createApp(Object.values(stages), { outdir: folder }));
}

export function synthesizedBy(app: App): Stages {
  const synthesized = ({ name }: StageSettings): SynthesizedStage => {
    const stage = app.node.findChild(name);
    const stack = Stage.isStage(stage) ? stage.synth().stacks[0] : undefined;
    if (!stack) throw new Error(`The app has no stack for ${name}`);
    const { directory } = stack.assembly;
    return { template: Template.fromJSON(stack.template), folder: directory, assetManifest: `${stack.id}.assets.json` };
  };
  return { staging: synthesized(stages.staging), production: synthesized(stages.production) };
}

/** A resource of a template: its logical id and what a test wants of its properties. */
export interface TemplateResource<Properties> {
  readonly id: string;
  readonly properties: Properties;
}

/** All resources of a type. A property that the schema wants and a resource lacks fails the test. */
export function resourcesOf<Schema extends v.GenericSchema>(
  { template }: SynthesizedStage,
  type: string,
  properties: Schema,
): TemplateResource<v.InferOutput<Schema>>[] {
  return Object.entries(template.findResources(type)).map(([id, resource]) => ({
    id,
    properties: v.parse(properties, resource.Properties),
  }));
}

/** `{ "Ref": … }` as the logical id it names. */
export const ref = v.pipe(
  v.strictObject({ Ref: v.string() }),
  v.transform(({ Ref }) => Ref),
);

/** `{ "Fn::GetAtt": […] }` as text such as `TablesStock190D1C2E.Arn`. */
export const attribute = v.pipe(
  v.strictObject({ 'Fn::GetAtt': v.array(v.string()) }),
  v.transform((value) => value['Fn::GetAtt'].join('.')),
);

/** A logical id without the hash that the CDK ends it with. */
export const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}(?=$|\.)/, '');
