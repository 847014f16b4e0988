import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { type AnyStageName, stackNameOf, type StageName, stages } from '../../infra/stages.ts';
import { synthesizedOnce } from './synthesize-once.ts';

export const templateSchema = v.looseObject({
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
});

export type EditableTemplate = v.InferOutput<typeof templateSchema>;
type EditableResource = EditableTemplate['Resources'][string];

function fileOf(assembly: string, stage: AnyStageName): string {
  const directory = path.join(assembly, `assembly-${stage}`);
  const file = readdirSync(directory).find((name) => name.endsWith('.template.json'));
  return path.join(directory, file ?? 'none');
}

export const templateIn = (assembly: string, stage: AnyStageName): EditableTemplate =>
  v.parse(templateSchema, JSON.parse(readFileSync(fileOf(assembly, stage), 'utf8')));

/** The template of a stage as it was synthesized for all suites, for the caller alone. */
export const inventoryTemplate = (stage: StageName): EditableTemplate => templateIn(synthesizedOnce(), stage);

/** The template that the local server runs, for tests that run it or break it. */
export class ServiceTemplate {
  readonly stackName = stackNameOf('staging');
  readonly #text = JSON.stringify(inventoryTemplate('staging'));

  with(change: (template: EditableTemplate) => void): EditableTemplate {
    const template = v.parse(templateSchema, JSON.parse(this.#text));
    change(template);
    return template;
  }

  get unchanged(): EditableTemplate {
    return this.with(() => undefined);
  }
}

/** The resources of a type, or those of them whose logical ids begin so. */
export const resourcesIn = ({ Resources }: EditableTemplate, type: string, id = ''): [string, EditableResource][] =>
  Object.entries(Resources).filter(([name, { Type }]) => Type === type && name.startsWith(id));

export const propertiesIn = (template: EditableTemplate, type: string, id = '') =>
  resourcesIn(template, type, id).map(([, { Properties }]) => Properties);

/** The first resource of a type, by its logical id where the template has several. */
export function resourceOf(template: EditableTemplate, type: string, id = ''): [string, EditableResource] {
  const [found] = resourcesIn(template, type, id);
  if (!found) throw new Error(`The template has no ${type} ${id}`);
  return found;
}

export function writeTemplate(directory: string, stage: StageName, template: EditableTemplate): void {
  writeFileSync(fileOf(directory, stage), JSON.stringify(template));
}

/** The resources of a stage by their names, such as `FunctionsGetPet`. */
export type ReadableStage = Readonly<Record<string, unknown>>;

/**
 * The resources of a stage in a form that changes only where their meaning does: references and joined texts are
 * one text with `<names>`, JSON texts are values, and hashes and the name of the stage are left out. Functions that the
 * CDK brings for the deployment, and their roles, are not among them.
 */
export function readableStage(stage: StageName): ReadableStage {
  const resources = Object.entries(inventoryTemplate(stage).Resources).map(([id, resource]): [string, unknown] => [
    nameOf(id, stage),
    readable(withoutFunctions({ ...resource, DependsOn: undefined }), stage),
  ]);
  return Object.fromEntries(resources.filter(([name]) => !/^(?:AWSCDK|Custom)/.test(name)));
}

/** The properties of all resources of a type, by their names. A missing property fails the test. */
export function propertiesOf<Schema extends v.GenericSchema>(
  stage: ReadableStage,
  type: string,
  schema: Schema,
): [name: string, properties: v.InferOutput<Schema>][] {
  const resource = v.object({ Type: v.literal(type), Properties: v.optional(v.unknown(), {}) });
  return Object.entries(stage).flatMap(([name, value]) =>
    v.is(resource, value) ? [[name, v.parse(schema, v.parse(resource, value).Properties)]] : [],
  );
}

const oneOrMany = v.pipe(
  v.unknown(),
  v.transform((value) => (Array.isArray(value) ? value : [value])),
  v.array(v.string()),
);
const statement = v.strictObject({ Effect: v.literal('Allow'), Action: oneOrMany, Resource: oneOrMany });
const policySchema = v.looseObject({
  Roles: v.array(v.string()),
  PolicyDocument: v.looseObject({ Statement: v.array(statement) }),
});

export const policiesOf = (stage: ReadableStage, type = 'AWS::IAM::Policy') =>
  propertiesOf(stage, type, policySchema).map(([, properties]) => properties);

/** Everything that a role may do, as `action on resource`. */
export const grantsIn = (policies: ReturnType<typeof policiesOf>, role: string): string[] =>
  policies
    .flatMap(({ Roles, PolicyDocument }) => (Roles.includes(`<${role}>`) ? PolicyDocument.Statement : []))
    .flatMap(({ Action, Resource }) => Action.flatMap((action) => Resource.map((one) => `${action} on ${one}`)));

/** Functions of CloudFormation as texts, where they are no more than that. */
export function withoutFunctions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFunctions);
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).map(([key, part]): [string, unknown] => [key, withoutFunctions(part)]);
  const [[name, argument] = ['', undefined], ...others] = parts;
  const text = others.length === 0 ? textOf(name, argument) : undefined;
  return text ?? Object.fromEntries(parts);
}

function textOf(name: string, argument: unknown): string | undefined {
  if (name === 'Ref') return `<${String(argument)}>`;
  if (name === 'Fn::Sub' && typeof argument === 'string') return argument.replaceAll(/\$\{([^}]+)\}/g, '<$1>');
  if (!Array.isArray(argument)) return undefined;
  if (name === 'Fn::GetAtt') return `<${argument.join('.')}>`;
  const [separator, parts]: unknown[] = argument;
  const isText = name === 'Fn::Join' && separator === '' && Array.isArray(parts);
  return isText && parts.every((part) => typeof part === 'string') ? parts.join('') : undefined;
}

/** The value without what changes though its meaning does not. */
function readable(value: unknown, stage: StageName): unknown {
  if (Array.isArray(value)) return value.map((part) => readable(part, stage));
  if (typeof value === 'string') {
    return /^\{\s*"/.test(value) ? readable(JSON.parse(value), stage) : nameOf(value, stage);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [nameOf(key, stage), readable(part, stage)]));
}

/** Without SHA-256s, the hashes that logical ids end with, and the name of the stage. */
const nameOf = (text: string, stage: StageName): string =>
  text
    .replaceAll(/\b[0-9a-f]{64}\b/g, '(sha256)')
    .replaceAll(/(?<=\w)(?:[0-9A-F]{8})?[0-9a-f]{32}\b/g, '')
    .replaceAll(/(?<=[a-z])[0-9A-F]{8}(?=[A-Z][A-Za-z])/g, '')
    .replaceAll(/(?<=\w)(?:[0-9A-F]{8}){1,2}(?!\w)/g, '')
    .replaceAll(stages[stage].qualifier, '<qualifier>')
    .replaceAll(stage, '<stage>');
