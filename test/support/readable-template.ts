import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { type StageName, stages } from '../../infra/stages.ts';
import { synthesizedOnce } from './synthesize-once.ts';

const templateSchema = v.looseObject({
  Resources: v.record(v.string(), v.unknown()),
  Outputs: v.optional(v.unknown()),
});

/** The resources and outputs of a stage by `stack/logical id`, sorted, as a reader wants them. */
export type ReadableStage = Readonly<Record<string, unknown>>;

/**
 * All that a stage deploys, in a form that changes only where its meaning does: references and joined texts are one text
 * with `<names>`, JSON texts are values, and the hashes of assets, of logical ids and the stage's own name are left out.
 */
export function readableStage(stage: StageName): ReadableStage {
  const folder = join(synthesizedOnce(), `assembly-${stage}`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
  const entries = files.flatMap((file) => {
    const { Resources, Outputs } = v.parse(templateSchema, JSON.parse(readFileSync(join(folder, file), 'utf8')));
    const stack = withoutHashes(file.slice(stage.length, file.indexOf('.')));
    const resources = Object.entries(Resources).map(([id, resource]) => [`${stack}/${nameOf(id, stage)}`, resource]);
    return [...resources, [`${stack}/outputs`, Outputs]].map(([id, value]): [string, unknown] => [
      String(id),
      readable(withoutFunctions(value), stage),
    ]);
  });
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The resources of a type in the stack of the API, but for the CDK's own (see `ReleaseProof`): their properties by their names, such as `FunctionsGetPet`, as a schema has them. */
export function propertiesOf<Schema extends v.GenericSchema>(
  stage: ReadableStage,
  type: string,
  schema: Schema,
): [name: string, properties: v.InferOutput<Schema>][] {
  const resource = v.object({ Type: v.string(), Properties: v.optional(v.unknown(), {}) });
  return Object.entries(stage).flatMap(([name, value]) => {
    const { success, output } = v.safeParse(resource, value);
    const isWanted = success && output.Type === type && /^Inventory\/(?!AWSCDK)/.test(name);
    return isWanted ? [[name.replace('Inventory/', ''), v.parse(schema, output.Properties)]] : [];
  });
}

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
  if (name === 'Fn::ImportValue') return `<import ${String(argument)}>`;
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
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const isSet = key === 'DependsOn' && Array.isArray(part);
      return [
        nameOf(key, stage),
        isSet ? part.map((name) => readable(name, stage)).toSorted(byText) : readable(part, stage),
      ];
    }),
  );
}

const nameOf = (text: string, stage: StageName): string =>
  withoutHashes(text).replaceAll(stages[stage].qualifier, '<qualifier>').replaceAll(stage, '<stage>');

/** Without SHA-256s, such as the names of assets, and without the hashes that logical ids and exports end with. */
const withoutHashes = (text: string): string =>
  text
    .replaceAll(/\b[0-9a-f]{64}\b/g, '(sha256)')
    .replaceAll(/(?<=\w)(?:[0-9A-F]{8})?[0-9a-f]{32}\b/g, '')
    .replaceAll(/(?<=[a-z])[0-9A-F]{8}(?=[A-Z][A-Za-z])/g, '')
    .replaceAll(/(?<=\w)(?:[0-9A-F]{8}){1,2}(?!\w)/g, '');

/** What of a value is not in another one: of objects, and of lists as long as each other, just the parts that differ. */
export function differenceFrom(other: unknown, value: unknown): unknown {
  if (isDeepStrictEqual(value, other)) return undefined;
  if (!isComposite(value) || !isComposite(other)) return value ?? 'none';
  if (Array.isArray(value) && Array.isArray(other) && value.length !== other.length) return value;
  const names = [...new Set([...Object.keys(value), ...Object.keys(other)])];
  const parts = names.map((name) => [name, differenceFrom(other[name], value[name])] as const);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

const byText = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1);

const isComposite = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
