import * as v from 'valibot';

const text = v.string();
const texts = v.record(text, text);
const oneOrMore = v.pipe(
  v.union([text, v.array(text)]),
  v.transform((value) => [value].flat()),
);
/** CloudFormation's list of tags, as a map. */
const tags = v.pipe(
  v.optional(v.array(v.object({ Key: text, Value: text })), []),
  v.transform((list): Readonly<Record<string, string>> =>
    Object.fromEntries(list.map(({ Key, Value }) => [Key, Value])),
  ),
);

/** Requests go to a function. */
const proxyIntegration = v.object({
  Type: v.literal('AWS_PROXY'),
  Uri: text,
  ResponseTransferMode: v.optional(text, 'BUFFERED'),
  TimeoutInMillis: v.optional(v.number(), 29_000),
});

/** The answer is always the same. */
const mockIntegration = v.object({
  Type: v.literal('MOCK'),
  IntegrationResponses: v.tuple([v.object({ StatusCode: text, ResponseParameters: v.optional(texts, {}) })]),
});

/** What the local host reads of each type that it serves. It looks at no other property. */
export const resourceTypes = {
  'AWS::ApiGateway::ApiKey': v.object({
    Value: text,
    Enabled: v.optional(v.boolean(), false),
    Description: v.optional(text),
    Tags: tags,
  }),
  'AWS::ApiGateway::Authorizer': v.object({ AuthorizerUri: text }),
  'AWS::ApiGateway::GatewayResponse': v.object({
    ResponseType: text,
    StatusCode: v.optional(text),
    ResponseParameters: v.optional(texts, {}),
    ResponseTemplates: v.optional(v.object({ 'application/json': text })),
  }),
  'AWS::ApiGateway::Method': v.object({
    ResourceId: text,
    HttpMethod: text,
    ApiKeyRequired: v.optional(v.boolean(), false),
    AuthorizerId: v.optional(text),
    Integration: v.variant('Type', [proxyIntegration, mockIntegration]),
  }),
  'AWS::ApiGateway::Resource': v.object({ ParentId: text, PathPart: text }),
  'AWS::ApiGateway::RestApi': v.object({}),
  'AWS::ApiGateway::Stage': v.object({
    StageName: text,
    AccessLogSetting: v.optional(v.object({ DestinationArn: text, Format: text })),
  }),
  'AWS::ApiGateway::UsagePlan': v.object({
    UsagePlanName: text,
    ApiStages: v.array(v.object({ ApiId: text, Stage: text })),
    Quota: v.optional(v.object({ Limit: v.number(), Period: v.literal('DAY') })),
    Throttle: v.optional(v.object({ RateLimit: v.number(), BurstLimit: v.number() })),
    Tags: tags,
  }),
  'AWS::ApiGateway::UsagePlanKey': v.object({ KeyId: text, UsagePlanId: text }),
  'AWS::DynamoDB::Table': v.object({
    AttributeDefinitions: v.array(v.object({ AttributeName: text, AttributeType: v.picklist(['S', 'N', 'B']) })),
    KeySchema: v.array(v.object({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) })),
  }),
  'AWS::Events::Rule': v.object({ ScheduleExpression: v.optional(text) }),
  'AWS::IAM::Policy': v.object({
    Roles: v.array(text),
    PolicyDocument: v.object({
      Statement: v.array(
        v.object({ Action: oneOrMore, Effect: text, Resource: oneOrMore, Condition: v.optional(v.unknown()) }),
      ),
    }),
  }),
  'AWS::Lambda::Alias': v.object({ FunctionName: text, Name: text }),
  'AWS::Lambda::EventSourceMapping': v.object({
    FunctionName: text,
    MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
  }),
  'AWS::Lambda::Function': v.object({
    Code: v.object({ S3Key: text }),
    Handler: text,
    Environment: v.optional(v.object({ Variables: texts }), { Variables: {} }),
    LoggingConfig: v.object({ LogGroup: text, SystemLogLevel: v.picklist(['INFO', 'WARN']) }),
    MemorySize: v.number(),
    Role: text,
    Timeout: v.number(),
  }),
} as const;

export type KnownType = keyof typeof resourceTypes;
export type PropertiesOf<Type extends KnownType> = v.InferOutput<(typeof resourceTypes)[Type]>;

/** Types of services that the host imitates which do nothing on a laptop. */
const withoutEffect: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
]);

/** Whether resources of a type serve requests, and the local host does not know how. */
export function isMissing(type: string): boolean {
  const isServed = /^AWS::(?:ApiGateway|ApiGatewayV2|DynamoDB|Events|Lambda)::/.test(type);
  return isServed && !withoutEffect.has(type) && !Object.hasOwn(resourceTypes, type);
}
