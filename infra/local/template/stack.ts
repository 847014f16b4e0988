import * as v from 'valibot';
import { account, arn } from '../../local-endpoint.ts';
import { exportNames, stages } from '../../stages.ts';
import { HostError } from '../host-error.ts';
import { type Names, resolveIntrinsics } from './intrinsics.ts';
import { isMissing, type KnownType, type PropertiesOf, resourceTypes } from './resource-types.ts';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account.id,
  'AWS::Region': account.region,
  'AWS::Partition': account.partition,
  'AWS::URLSuffix': account.urlSuffix,
};

const mapOf = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.record(v.string(), schema), {});

const templateSchema = v.object({
  Resources: mapOf(v.object({ Type: v.string(), Properties: mapOf(v.unknown()) })),
  Outputs: mapOf(v.object({ Value: v.unknown() })),
  Parameters: mapOf(v.object({ Default: v.optional(v.string()) })),
});

/** A resource of the stack with what the host reads of its properties, resolved and checked. */
export interface Resource<Type extends KnownType> {
  readonly logicalId: string;
  /** What `Ref` gives. */
  readonly ref: string;
  readonly properties: PropertiesOf<Type>;
}

/** A template, of which the local host looks at what it serves, and no further. */
export class ServedStack {
  readonly outputs: Readonly<Record<string, string>>;
  readonly #name: string;
  readonly #template: v.InferOutput<typeof templateSchema>;
  readonly #names: Names;

  /**
   * @param pageOrigin origin of the reference page, which another stack exports; by default one that no page can have
   * @throws HostError on a resource that serves requests in a way that the local host does not know
   */
  constructor(name: string, template: unknown, pageOrigin = 'https://reference.invalid') {
    this.#name = name;
    this.#template = parse(templateSchema, template, 'The template');
    this.#names = {
      ref: (id) => pseudoParameters[id] ?? this.#template.Parameters[id]?.Default ?? this.#ref(id),
      attribute: (id, attribute) => this.#attribute(id, attribute),
      imported: (exported) => (exported === exportNames.pageOrigin(stages.staging.name) ? pageOrigin : undefined),
    };
    for (const [id, { Type }] of Object.entries(this.#template.Resources)) {
      if (isMissing(Type)) throw new HostError(`Resource ${id}: the local host does not know the type ${Type}`);
    }
    this.outputs = Object.fromEntries(
      Object.entries(this.#template.Outputs).map(([id, { Value }]) => [
        id,
        String(resolveIntrinsics(Value, this.#names, `Output ${id}`)),
      ]),
    );
  }

  /**
   * The resources of a type, in the order of the template.
   *
   * @throws HostError naming a property that the host needs and does not find
   */
  resources<Type extends KnownType>(type: Type): Resource<Type>[] {
    return this.#idsOf(type).map((logicalId) => this.#resource(logicalId, type));
  }

  /** The resource that a reference leads to. @throws HostError where there is none */
  find<Type extends KnownType>(type: Type, ref: string): Resource<Type> {
    const logicalId = this.#idsOf(type).find((id) => this.#ref(id) === ref);
    if (logicalId === undefined) throw new HostError(`The template has no ${ref} of the type ${type}`);
    return this.#resource(logicalId, type);
  }

  /** The value of an attribute of a resource, as `Fn::GetAtt` gives it. */
  attribute(logicalId: string, attribute: string): string {
    const value = this.#attribute(logicalId, attribute);
    if (value !== undefined) return value;
    throw new HostError(`Resource ${logicalId}: the local host does not know its ${attribute}`);
  }

  #idsOf(type: KnownType): string[] {
    const all = Object.entries(this.#template.Resources);
    return all.flatMap(([id, { Type }]) => (Type === type ? [id] : []));
  }

  #resource<Type extends KnownType>(logicalId: string, type: Type): Resource<Type> {
    return { logicalId, ref: this.#ref(logicalId) ?? logicalId, properties: this.#properties(logicalId, type) };
  }

  #properties<Type extends KnownType>(id: string, type: Type): PropertiesOf<Type> {
    const all = this.#template.Resources[id]?.Properties ?? {};
    const place = `Resource ${id} (${type})`;
    const schema = resourceTypes[type];
    const read = Object.keys(schema.entries).map((name) => [
      name,
      resolveIntrinsics(all[name], this.#names, `${place}, property ${name}`),
    ]);
    return parse(schema, Object.fromEntries(read), place);
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

  #attribute(id: string, attribute: string): string | undefined {
    const type = this.#template.Resources[id]?.Type;
    const name = `${this.#name}-${id}`;
    if (type === 'AWS::Lambda::Function' && attribute === 'Arn') return arn('lambda', `function:${name}`);
    if (type === 'AWS::DynamoDB::Table' && attribute === 'Arn') return arn('dynamodb', `table/${name}`);
    // Of what is not served, every attribute has a value, which is only compared.
    if (attribute === 'Arn') return type && arn(type.split('::')[1]?.toLowerCase() ?? type, name);
    return type && `${name}-${attribute}`;
  }
}

function parse<Schema extends v.GenericSchema>(schema: Schema, value: unknown, place: string): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const problem = `expected ${issue.expected}, got ${issue.received}`;
  throw new HostError(`${place}: the local host needs another property ${v.getDotPath(issue) ?? ''} (${problem})`);
}

/** The one resource of its kind. @throws HostError where there is none, or more than one */
export function only<Item>(items: readonly Item[], what: string): Item {
  const [item, ...others] = items;
  if (item !== undefined && others.length === 0) return item;
  throw new HostError(`The local host serves templates with exactly one ${what}; this one has ${items.length}`);
}
