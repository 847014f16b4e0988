import * as v from 'valibot';
import { account, arn } from '../../local-endpoint.ts';
import { exportNames, stages } from '../../stages.ts';
import { HostError } from '../host-error.ts';
import { type Names, resolveIntrinsics } from './intrinsics.ts';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account.id,
  'AWS::Region': account.region,
  'AWS::Partition': account.partition,
  'AWS::URLSuffix': account.urlSuffix,
};

/** What the local host knows of the services that it imitates: what it serves, and what does nothing on a laptop. */
const knownTypes: Readonly<Record<string, string>> = {
  ApiGateway:
    'Account ApiKey Authorizer BasePathMapping Deployment DomainName GatewayResponse Method Resource RestApi Stage ' +
    'UsagePlan UsagePlanKey',
  ApiGatewayV2: '',
  DynamoDB: 'Table',
  Events: 'Rule',
  Lambda: 'Alias EventSourceMapping Function Permission Version',
};

const text = v.string();
const mapOf = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.record(text, schema), {});

const templateSchema = v.object({
  Resources: mapOf(v.object({ Type: text, Properties: mapOf(v.unknown()) })),
  Outputs: mapOf(v.object({ Value: v.unknown() })),
  Parameters: mapOf(v.object({ Default: v.optional(text) })),
});

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
    this.#template = v.parse(templateSchema, template);
    this.#names = {
      ref: (id) => pseudoParameters[id] ?? this.#template.Parameters[id]?.Default ?? this.#ref(id),
      attribute: (id, attribute) => this.#attribute(id, attribute),
      imported: (exported) => (exported === exportNames.pageOrigin(stages.staging.name) ? pageOrigin : undefined),
    };
    for (const [id, { Type }] of Object.entries(this.#template.Resources)) {
      const [, service = '', kind = ''] = Type.split('::');
      if (knownTypes[service]?.split(' ').includes(kind) ?? true) continue;
      throw new HostError(`Resource ${id}: the local host does not know the type ${Type}`);
    }
    const outputs = Object.entries(this.#template.Outputs);
    this.outputs = Object.fromEntries(
      outputs.map(([id, { Value }]) => [id, String(resolveIntrinsics(Value, this.#names, `Output ${id}`))]),
    );
  }

  /** The resources of a type, in the order of the template. */
  resources(type: string): Resource[] {
    const all = Object.entries(this.#template.Resources);
    return all.flatMap(([id, { Type }]) => (Type === type ? [this.#resource(id)] : []));
  }

  /** The one resource of a type. @throws HostError where there is none, or more than one */
  only(type: string): Resource {
    const [resource, ...others] = this.resources(type);
    if (resource && others.length === 0) return resource;
    throw new HostError(`The local host serves templates with exactly one ${type}`);
  }

  /** The resource of a type that a reference leads to. @throws HostError where there is none */
  find(type: string, ref: string): Resource {
    const resource = this.resources(type).find((each) => each.ref === ref);
    if (!resource) throw new HostError(`The template has no ${ref} of the type ${type}`);
    return resource;
  }

  #resource(id: string): Resource {
    const { Type = '', Properties = {} } = this.#template.Resources[id] ?? {};
    return new Resource(id, Type, this.#ref(id) ?? id, (path) => {
      const value = path.split('.').reduce(memberOf, Properties);
      return resolveIntrinsics(value, this.#names, `Resource ${id} (${Type}), property ${path}`);
    });
  }

  #ref(id: string): string | undefined {
    const { Type, Properties = {} } = this.#template.Resources[id] ?? {};
    if (Type === 'AWS::ApiGateway::Stage') return String(Properties['StageName']);
    if (Type === 'AWS::Lambda::Alias') {
      const lambda = resolveIntrinsics(Properties['FunctionName'], this.#names, `Resource ${id}`);
      return arn('lambda', `function:${String(lambda)}:${String(Properties['Name'])}`);
    }
    return Type?.startsWith('AWS::ApiGateway::') ? id : Type && `${this.#name}-${id}`;
  }

  #attribute(id: string, attribute: string): string | undefined {
    const type = this.#template.Resources[id]?.Type;
    const name = `${this.#name}-${id}`;
    if (type === undefined || attribute !== 'Arn') return type && `${name}-${attribute}`;
    if (type === 'AWS::Lambda::Function') return arn('lambda', `function:${name}`);
    if (type === 'AWS::DynamoDB::Table') return arn('dynamodb', `table/${name}`);
    // Of what is not served, it is only compared.
    return arn(type.split('::')[1]?.toLowerCase() ?? type, name);
  }
}

/** A resource of the stack. */
export class Resource {
  readonly logicalId: string;
  readonly type: string;
  /** What `Ref` gives. */
  readonly ref: string;
  readonly #property: (path: string) => unknown;

  constructor(logicalId: string, type: string, ref: string, property: (path: string) => unknown) {
    this.logicalId = logicalId;
    this.type = type;
    this.ref = ref;
    this.#property = property;
  }

  /**
   * A property, resolved and checked.
   *
   * @param path such as `Code.S3Key`
   * @throws HostError naming it where it is not what the schema says
   */
  read<Schema extends v.GenericSchema>(path: string, schema: Schema): v.InferOutput<Schema> {
    const result = v.safeParse(schema, this.#property(path));
    if (result.success) return result.output;
    const [issue] = result.issues;
    const place = [path, v.getDotPath(issue)].filter(Boolean).join('.');
    const problem = `expected ${issue.expected}, got ${issue.received}`;
    throw new HostError(
      `Resource ${this.logicalId} (${this.type}): the local host needs property ${place} (${problem})`,
    );
  }

  text(path: string): string {
    return this.read(path, text);
  }

  /** A map of texts. */
  texts(path: string): Readonly<Record<string, string>> {
    return this.read(path, mapOf(text));
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
