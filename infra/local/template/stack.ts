import * as v from 'valibot';
import { account, arn } from '../../local-endpoint.ts';
import { LocalServerError } from '../local-server-error.ts';
import { supportedProperties } from './supported-properties.ts';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account.id,
  'AWS::Region': account.region,
  'AWS::Partition': account.partition,
  'AWS::URLSuffix': account.urlSuffix,
};

/** Supported resource types of the emulated services: those it serves, and those without effect on a laptop. */
const knownTypes: Readonly<Record<string, string>> = {
  ApiGateway:
    'Account ApiKey Authorizer BasePathMapping Deployment DomainName GatewayResponse Method Resource RestApi Stage ' +
    'UsagePlan UsagePlanKey',
  ApiGatewayV2: '',
  DynamoDB: 'Table',
  Events: 'EventBus Rule',
  Lambda: 'Alias EventSourceMapping Function LayerVersion Permission Version',
};

const text = v.string();
const mapOf = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.record(text, schema), {});

const templateSchema = v.object({
  Resources: mapOf(v.object({ Type: text, Properties: mapOf(v.unknown()) })),
  Outputs: mapOf(v.object({ Value: v.unknown() })),
});

/** Stands for the domain that CloudFront gives the reference page. */
const CLOUDFRONT = 'cloudfront.invalid';

/** A template, of which the local server uses only the types that it serves. */
export class ServedStack {
  readonly outputs: Readonly<Record<string, string>>;
  readonly #resources: readonly Resource[];

  /**
   * @param pageOrigin origin of the reference page, in the place of CloudFront's; by default one that no page can have
   * @throws LocalServerError for an unsupported resource that serves requests, or an unsupported property of one
   */
  constructor(name: string, template: unknown, pageOrigin = 'https://reference.invalid') {
    const { Resources, Outputs } = v.parse(templateSchema, template);
    const refOf = (id: string): string | undefined => {
      const { Type, Properties = {} } = Resources[id] ?? {};
      if (Type === 'AWS::ApiGateway::Stage') return String(Properties['StageName']);
      if (Type === 'AWS::Lambda::Alias') {
        const lambda = resolveIntrinsics(Properties['FunctionName'], evaluate, `Resource ${id}`);
        return arn('lambda', `function:${String(lambda)}:${String(Properties['Name'])}`);
      }
      return Type?.startsWith('AWS::ApiGateway::') ? id : Type && `${name}-${id}`;
    };
    const evaluate: Evaluate = (intrinsic, argument) => {
      const [first, second]: unknown[] = Array.isArray(argument) ? argument : [argument];
      const operand = String(first);
      if (intrinsic === 'Ref') return pseudoParameters[operand] ?? refOf(operand);
      if (intrinsic === 'Fn::GetAtt')
        return attributeOf(`${name}-${operand}`, Resources[operand]?.Type, String(second));
      if (intrinsic === 'Fn::Split') return String(second).split(operand);
      if (!Array.isArray(second)) return undefined;
      if (intrinsic === 'Fn::Select') return second[Number(operand)];
      if (intrinsic !== 'Fn::Join') return undefined;
      return second.join(operand).replaceAll(`https://${CLOUDFRONT}`, () => pageOrigin);
    };
    this.#resources = Object.entries(Resources).map(([id, { Type, Properties }]) => {
      const [, service = '', kind = ''] = Type.split('::');
      const isKnown = knownTypes[service]?.split(' ').includes(kind) ?? true;
      if (!isKnown) throw new LocalServerError(`Resource ${id}: the local server does not support the type ${Type}`);
      const resource = resourceOf(id, Type, refOf(id) ?? id, Properties, evaluate);
      for (const [path, schema] of Object.entries(supportedProperties[Type] ?? {})) resource.read(path, schema);
      return resource;
    });
    const outputs = resourceOf('Outputs', 'of the stack', '', Outputs, evaluate);
    this.outputs = Object.fromEntries(Object.keys(Outputs).map((id) => [id, outputs.text(`${id}.Value`)]));
  }

  /** The resources of a type, in the order of the template. */
  resources(type: string): Resource[] {
    return this.#resources.filter((each) => each.type === type);
  }

  /** The only resource of a type. @throws LocalServerError if there is none, or more than one */
  only(type: string): Resource {
    const [resource, ...others] = this.resources(type);
    if (resource && others.length === 0) return resource;
    throw new LocalServerError(`The local server requires exactly one ${type}`);
  }

  /** The resource of a type by its reference. @throws LocalServerError if there is none */
  find(type: string, ref: string): Resource {
    const resource = this.resources(type).find((each) => each.ref === ref);
    if (!resource) throw new LocalServerError(`The template has no ${ref} of the type ${type}`);
    return resource;
  }
}

function attributeOf(name: string, type: string | undefined, attribute: string): string | undefined {
  if (type === 'AWS::CloudFront::Distribution' && attribute === 'DomainName') return CLOUDFRONT;
  if (type === undefined || attribute !== 'Arn') return type && `${name}-${attribute}`;
  if (type === 'AWS::Lambda::Function') return arn('lambda', `function:${name}`);
  if (type === 'AWS::DynamoDB::Table') return arn('dynamodb', `table/${name}`);
  // For types that are not served, it is only compared.
  return arn(type.split('::')[1]?.toLowerCase() ?? type, name);
}

export type Resource = ReturnType<typeof resourceOf>;

/** @param ref the value of `Ref` */
function resourceOf(logicalId: string, type: string, ref: string, properties: unknown, evaluate: Evaluate) {
  /** A property at a path such as `Code.S3Key`. @throws LocalServerError naming it if it does not match the schema */
  const read = <Schema extends v.GenericSchema>(path: string, schema: Schema): v.InferOutput<Schema> => {
    const place = `Resource ${logicalId} (${type}), property ${path}`;
    const value = path.split('.').reduce(memberOf, properties);
    const result = v.safeParse(schema, resolveIntrinsics(value, evaluate, place));
    if (result.success) return result.output;
    const [issue] = result.issues;
    const member = [place, v.getDotPath(issue)].filter(Boolean).join('.');
    throw new LocalServerError(`${member}: the local server supports only ${issue.expected}, got ${issue.received}`);
  };
  return {
    logicalId,
    type,
    ref,
    read,
    text: (path: string) => read(path, text),
    texts: (path: string): Readonly<Record<string, string>> => read(path, mapOf(text)),
  };
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;

/** Evaluates an intrinsic function. Undefined: unsupported by the local server. */
type Evaluate = (intrinsic: string, argument: unknown) => unknown;

/**
 * Resolves the intrinsic functions in a template value.
 *
 * @param place of the value, for the error
 * @throws LocalServerError for a function or a name that the local server does not support
 */
function resolveIntrinsics(value: unknown, evaluate: Evaluate, place: string): unknown {
  if (Array.isArray(value)) return value.map((part) => resolveIntrinsics(part, evaluate, place));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, resolveIntrinsics(part, evaluate, place)] as const);
  const [name, argument] = entries[0] ?? [''];
  if (entries.length !== 1 || !(name === 'Ref' || name.startsWith('Fn::'))) return Object.fromEntries(entries);
  const result = evaluate(name, argument);
  if (result !== undefined) return result;
  throw new LocalServerError(`${place}: the local server does not support ${name} ${JSON.stringify(argument)}`);
}
