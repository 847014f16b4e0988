import * as v from 'valibot';
import { account, arn } from '../../local-endpoint.ts';
import { exportNames, stages } from '../../stages.ts';
import { HostError } from '../host-error.ts';
import { type Names, resolveIntrinsics } from './intrinsics.ts';
import { isServed, type KnownType, type PropertiesOf, resourceTypes } from './resource-types.ts';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account.id,
  'AWS::Region': account.region,
  'AWS::Partition': account.partition,
  'AWS::URLSuffix': account.urlSuffix,
};

const templateSchema = v.strictObject({
  Description: v.optional(v.string()),
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
  Outputs: v.optional(v.record(v.string(), v.object({ Value: v.unknown() })), {}),
  // A resource that is served may not refer to any of these.
  Conditions: v.optional(v.unknown()),
  Mappings: v.optional(v.unknown()),
  Parameters: v.optional(v.record(v.string(), v.looseObject({ Default: v.optional(v.string()) })), {}),
  Rules: v.optional(v.unknown()),
  // For the check before a deploy.
  Metadata: v.optional(v.unknown()),
});

/** What a resource that is served may have besides its properties. */
const servedSchema = v.strictObject({
  Type: v.string(),
  Properties: v.optional(v.unknown()),
  DependsOn: v.optional(v.unknown()),
  Metadata: v.optional(v.unknown()),
  DeletionPolicy: v.optional(v.unknown()),
  UpdateReplacePolicy: v.optional(v.unknown()),
  // How a release goes: there is none on a laptop.
  UpdatePolicy: v.optional(v.unknown()),
});

type Template = v.InferOutput<typeof templateSchema>;

/** A resource of the stack with its properties resolved and checked. */
export interface Resource<Type extends KnownType> {
  readonly logicalId: string;
  /** What `Ref` gives. */
  readonly ref: string;
  readonly properties: PropertiesOf<Type>;
}

/** A template, of which the local host understands what it serves: entirely, or not at all. */
export class ServedStack {
  readonly outputs: Readonly<Record<string, string>>;
  readonly #name: string;
  readonly #template: Template;
  readonly #names: Names;

  /**
   * @param pageOrigin origin of the reference page, which another stack exports; by default one that no page can have
   * @throws HostError naming the resource and the property that the local host does not know
   */
  constructor(name: string, template: unknown, pageOrigin = 'https://reference.invalid') {
    this.#name = name;
    this.#template = withoutProviders(parse(templateSchema, template, 'The template'));
    this.#names = {
      ref: (id) => pseudoParameters[id] ?? this.#template.Parameters[id]?.Default ?? this.#ref(id),
      attribute: (id, attribute) => this.#attribute(id, attribute),
      imported: (exported) => (exported === exportNames.pageOrigin(stages.staging.name) ? pageOrigin : undefined),
    };
    for (const [id, resource] of Object.entries(this.#template.Resources)) {
      const { Type } = resource;
      if (!isServed(Type)) continue;
      if (!isKnown(Type)) throw new HostError(`Resource ${id}: the local host does not know the type ${Type}`);
      parse(servedSchema, resource, `Resource ${id} (${Type})`);
      this.#properties(id, Type);
    }
    this.outputs = Object.fromEntries(
      Object.entries(this.#template.Outputs).map(([id, { Value }]) => [
        id,
        String(this.#resolve(Value, `Output ${id}`)),
      ]),
    );
  }

  /** All resources of a type, in the order of the template. */
  resources<Type extends KnownType>(type: Type): Resource<Type>[] {
    return Object.entries(this.#template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id]) => ({ logicalId: id, ref: this.#ref(id) ?? id, properties: this.#properties(id, type) }));
  }

  /** The value of an attribute of a resource, as `Fn::GetAtt` gives it. */
  attribute(logicalId: string, attribute: string): string {
    const value = this.#names.attribute(logicalId, attribute);
    if (value === undefined)
      throw new HostError(`Resource ${logicalId}: the local host does not know its ${attribute}`);
    return value;
  }

  #properties<Type extends KnownType>(id: string, type: Type): PropertiesOf<Type> {
    const place = `Resource ${id} (${type})`;
    return parse(resourceTypes[type], this.#resolve(this.#template.Resources[id]?.Properties, place), place);
  }

  #resolve(value: unknown, place: string): unknown {
    return resolveIntrinsics(value, this.#names, place);
  }

  #ref(id: string): string | undefined {
    const type = this.#template.Resources[id]?.Type;
    if (type === 'AWS::ApiGateway::Stage') return this.#properties(id, type).StageName;
    if (type === 'AWS::Lambda::Alias') {
      const { FunctionName, Name } = this.#properties(id, type);
      return arn('lambda', `function:${FunctionName}:${Name}`);
    }
    return type?.startsWith('AWS::ApiGateway::') ? id : type && `${this.#name}-${id}`;
  }

  /** Every attribute of a resource that is not served has a value, which is never used. */
  #attribute(id: string, attribute: string): string | undefined {
    const type = this.#template.Resources[id]?.Type;
    const name = `${this.#name}-${id}`;
    if (type === 'AWS::Lambda::Function' && attribute === 'Arn') return arn('lambda', `function:${name}`);
    // There is one version at a time: what was synthesized.
    if (type === 'AWS::Lambda::Version' && attribute === 'Version') return '1';
    if (type === 'AWS::ApiGateway::RestApi' && attribute === 'RootResourceId') return `${id}-root`;
    if (type === undefined || isKnown(type)) return undefined;
    return attribute === 'Arn' ? arn(type.split('::')[1]?.toLowerCase() ?? type, name) : name;
  }
}

/** The functions behind custom resources are about a deploy, and not served. */
function withoutProviders(template: Template): Template {
  const all = Object.entries(template.Resources);
  const custom = all.filter(([, { Type }]) => Type.startsWith('Custom::'));
  const hidden = new Set(custom.map(([, { Properties }]) => referenceIn(Properties['ServiceToken'])));
  return { ...template, Resources: Object.fromEntries(all.filter(([id]) => !hidden.has(id))) };
}

const referenceSchema = v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) });

const referenceIn = (token: unknown): string | undefined =>
  v.is(referenceSchema, token) ? token['Fn::GetAtt'][0] : undefined;

function isKnown(type: string): type is KnownType {
  return Object.hasOwn(resourceTypes, type);
}

function parse<Schema extends v.GenericSchema>(schema: Schema, value: unknown, place: string): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const property = v.getDotPath(issue) ?? '';
  throw new HostError(
    issue.expected === 'never'
      ? `${place}: the local host does not know the property ${property}`
      : `${place}: the local host does not support property ${property} (expected ${issue.expected}, got ${issue.received})`,
  );
}

/** The one resource of its kind. @throws HostError where there is none, or more than one */
export function only<Item>(items: readonly Item[], what: string): Item {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) {
    throw new HostError(`The local host serves templates with exactly one ${what}; this one has ${items.length}`);
  }
  return item;
}
