import * as v from 'valibot';

/** A property that changes nothing on a laptop: what it sets up is AWS's own business. */
const noEffect = v.optional(v.unknown());

const text = v.string();
const texts = v.record(v.string(), v.string());
const status = v.pipe(text, v.regex(/^\d{3}$/));
/** CloudFormation's list of tags, as a map. */
const tags = v.pipe(
  v.optional(v.array(v.strictObject({ Key: text, Value: text })), []),
  v.transform((list): Readonly<Record<string, string>> =>
    Object.fromEntries(list.map(({ Key, Value }) => [Key, Value])),
  ),
);
const methodPlace = { RestApiId: text, ResourceId: text, HttpMethod: text };

/** A method whose requests go to a function. */
const proxyMethod = v.strictObject({
  ...methodPlace,
  AuthorizationType: v.literal('CUSTOM'),
  AuthorizerId: text,
  ApiKeyRequired: v.optional(v.boolean(), false),
  Integration: v.strictObject({
    Type: v.literal('AWS_PROXY'),
    IntegrationHttpMethod: v.literal('POST'),
    Uri: text,
    ResponseTransferMode: v.optional(v.picklist(['BUFFERED', 'STREAM']), 'BUFFERED'),
    TimeoutInMillis: v.optional(v.number(), 29_000),
  }),
});

/** A method whose answer is always the same. */
const fixedMethod = v.strictObject({
  ...methodPlace,
  AuthorizationType: v.literal('NONE'),
  ApiKeyRequired: v.optional(v.literal(false), false),
  Integration: v.strictObject({
    Type: v.literal('MOCK'),
    // It selects the answer by its status.
    RequestTemplates: v.strictObject({ 'application/json': text }),
    IntegrationResponses: v.strictTuple([
      v.strictObject({ StatusCode: status, ResponseParameters: v.optional(texts, {}) }),
    ]),
  }),
  MethodResponses: noEffect,
});

/** What the local host serves: the properties of each type. One that is not listed here stops the host at start. */
export const resourceTypes = {
  'AWS::ApiGateway::ApiKey': v.strictObject({
    Value: text,
    Enabled: v.optional(v.boolean(), false),
    Description: v.optional(text),
    Tags: tags,
  }),
  'AWS::ApiGateway::Authorizer': v.strictObject({
    RestApiId: text,
    Name: noEffect,
    Type: v.literal('REQUEST'),
    AuthorizerUri: text,
    AuthorizerResultTtlInSeconds: v.literal(0),
  }),
  'AWS::ApiGateway::GatewayResponse': v.strictObject({
    RestApiId: text,
    ResponseType: text,
    StatusCode: v.optional(status),
    ResponseParameters: v.optional(texts, {}),
    ResponseTemplates: v.optional(v.strictObject({ 'application/json': text })),
  }),
  'AWS::ApiGateway::Method': v.variant('AuthorizationType', [proxyMethod, fixedMethod]),
  'AWS::ApiGateway::Resource': v.strictObject({ RestApiId: text, ParentId: text, PathPart: text }),
  'AWS::ApiGateway::RestApi': v.strictObject({
    Name: text,
    ApiKeySourceType: v.literal('AUTHORIZER'),
    EndpointConfiguration: noEffect,
    // The host has an address of its own, without TLS.
    DisableExecuteApiEndpoint: noEffect,
    EndpointAccessMode: noEffect,
    SecurityPolicy: noEffect,
  }),
  'AWS::ApiGateway::Stage': v.strictObject({
    RestApiId: text,
    DeploymentId: noEffect,
    StageName: text,
    // Metrics, and a throttle for all clients together: a laptop has neither so many, nor a bill.
    MethodSettings: noEffect,
    TracingEnabled: noEffect,
    AccessLogSetting: v.optional(v.strictObject({ DestinationArn: text, Format: text })),
  }),
  'AWS::ApiGateway::UsagePlan': v.strictObject({
    UsagePlanName: text,
    // Its throttle is of bulks, which the host does not throttle.
    ApiStages: v.array(v.strictObject({ ApiId: text, Stage: text, Throttle: noEffect })),
    Quota: v.optional(v.strictObject({ Limit: v.number(), Period: v.literal('DAY') })),
    Throttle: v.optional(v.strictObject({ RateLimit: v.number(), BurstLimit: v.number() })),
    Tags: tags,
  }),
  'AWS::ApiGateway::UsagePlanKey': v.strictObject({
    KeyId: text,
    KeyType: v.literal('API_KEY'),
    UsagePlanId: text,
  }),
  'AWS::DynamoDB::Table': v.strictObject({
    AttributeDefinitions: v.array(v.strictObject({ AttributeName: text, AttributeType: v.picklist(['S', 'N', 'B']) })),
    KeySchema: v.array(v.strictObject({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) })),
    // Without effect here: DynamoDB deletes expired items at some later time, and no code may rely on it.
    TimeToLiveSpecification: noEffect,
    BillingMode: v.literal('PAY_PER_REQUEST'),
    DeletionProtectionEnabled: noEffect,
    PointInTimeRecoverySpecification: noEffect,
    SSESpecification: noEffect,
    WarmThroughput: noEffect,
  }),
  // As far as the sync of keys uses it. The queue behind it is not imitated.
  'AWS::Events::Rule': v.strictObject({
    Description: noEffect,
    EventPattern: v.optional(v.looseObject({ source: v.tuple([v.literal('aws.apigateway')]) })),
    ScheduleExpression: v.optional(text),
    State: v.optional(v.literal('ENABLED'), 'ENABLED'),
    Targets: v.array(v.strictObject({ Arn: text, Id: text })),
  }),
  'AWS::Lambda::Alias': v.strictObject({ FunctionName: text, FunctionVersion: text, Name: text }),
  'AWS::Lambda::EventSourceMapping': v.strictObject({
    EventSourceArn: text,
    FunctionName: text,
    BatchSize: noEffect,
    MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
    // The host runs one sync at a time.
    ScalingConfig: noEffect,
    Enabled: v.optional(v.literal(true), true),
  }),
  'AWS::Lambda::Function': v.strictObject({
    Code: v.strictObject({ S3Bucket: text, S3Key: text }),
    Handler: text,
    Runtime: v.literal('nodejs24.x'),
    Architectures: noEffect,
    Description: noEffect,
    Environment: v.optional(v.strictObject({ Variables: texts }), { Variables: {} }),
    LoggingConfig: v.strictObject({
      LogGroup: text,
      // Lines are written as they are, and none is below this level.
      LogFormat: v.literal('JSON'),
      ApplicationLogLevel: v.literal('INFO'),
      SystemLogLevel: v.picklist(['INFO', 'WARN']),
    }),
    MemorySize: v.number(),
    // It protects the other functions of an account, which a laptop does not have.
    ReservedConcurrentExecutions: noEffect,
    Role: noEffect,
    Timeout: v.number(),
    TracingConfig: noEffect,
  }),
  'AWS::Lambda::Version': v.strictObject({ FunctionName: text }),
} as const;

export type KnownType = keyof typeof resourceTypes;
export type PropertiesOf<Type extends KnownType> = v.InferOutput<(typeof resourceTypes)[Type]>;

/**
 * Whether the local host imitates the service of a type: it has to know every resource type of theirs, unless it does
 * nothing on a laptop. It reads nothing of any other (permissions, alarms, logs, names).
 */
export function isServed(type: string): boolean {
  return /^AWS::(?:ApiGateway|ApiGatewayV2|DynamoDB|Events|Lambda)::/.test(type) && !typesWithoutEffect.has(type);
}

const typesWithoutEffect: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::Lambda::Permission',
]);
