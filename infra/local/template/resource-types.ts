import * as v from 'valibot';
import { quotaPeriods } from '../gateway-records/usage-plan.ts';
import { templateTagsSchema } from '../gateway-records/tags.ts';
import { account, arn } from './account.ts';

/** A property that changes nothing on a laptop: what it sets up is AWS's own business. */
const noEffect = v.optional(v.unknown());

const text = v.string();
const reference = v.string();
const texts = v.record(v.string(), v.string());
const status = v.pipe(text, v.regex(/^\d{3}$/));

/** What the local host knows of a resource type. A property that is not listed here stops the host at start. */
export interface ResourceType<Properties extends v.GenericSchema = v.GenericSchema> {
  readonly properties: Properties;
  /** What `Ref` gives; by default the logical id. */
  readonly ref?: (stack: string, logicalId: string, properties: unknown) => string;
  readonly attributes?: Readonly<Record<string, (stack: string, logicalId: string) => string>>;
}

const named = (stack: string, logicalId: string): string => `${stack}-${logicalId}`;
const arnOf =
  (service: string, kind: string) =>
  (stack: string, logicalId: string): string =>
    arn(service, `${kind}${named(stack, logicalId)}`);

const stageProperties = v.strictObject({
  RestApiId: reference,
  DeploymentId: noEffect,
  StageName: text,
  MethodSettings: noEffect,
  AccessLogSetting: v.optional(v.strictObject({ DestinationArn: reference, Format: text })),
});

const methodPlace = { RestApiId: reference, ResourceId: reference, HttpMethod: text };

const methodProperties = v.variant('AuthorizationType', [
  v.strictObject({
    ...methodPlace,
    AuthorizationType: v.literal('CUSTOM'),
    AuthorizerId: reference,
    ApiKeyRequired: v.optional(v.boolean(), false),
    Integration: v.strictObject({
      Type: v.literal('AWS_PROXY'),
      IntegrationHttpMethod: v.literal('POST'),
      Uri: text,
      ResponseTransferMode: v.optional(v.picklist(['BUFFERED', 'STREAM']), 'BUFFERED'),
      TimeoutInMillis: v.optional(v.number(), 29_000),
    }),
  }),
  // An answer that is always the same.
  v.strictObject({
    ...methodPlace,
    AuthorizationType: v.literal('NONE'),
    ApiKeyRequired: v.optional(v.literal(false), false),
    Integration: v.strictObject({
      Type: v.literal('MOCK'),
      RequestTemplates: v.strictObject({ 'application/json': text }),
      IntegrationResponses: v.array(v.strictObject({ StatusCode: status, ResponseParameters: v.optional(texts, {}) })),
    }),
    MethodResponses: noEffect,
  }),
]);

const keySchema = v.array(v.strictObject({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) }));

const quota = v.strictObject({
  Limit: v.number(),
  Offset: v.optional(v.number(), 0),
  Period: v.picklist(quotaPeriods),
});
const throttle = v.strictObject({ RateLimit: v.number(), BurstLimit: v.number() });
const tags = v.optional(templateTagsSchema, []);
const wholeNumber = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

export const resourceTypes = {
  'AWS::ApiGateway::Account': { properties: v.strictObject({ CloudWatchRoleArn: noEffect }) },
  'AWS::ApiGateway::ApiKey': {
    properties: v.strictObject({
      Value: text,
      Enabled: v.optional(v.boolean(), false),
      Description: v.optional(text),
      Tags: tags,
    }),
  },
  'AWS::ApiGateway::Authorizer': {
    properties: v.strictObject({
      RestApiId: reference,
      Name: text,
      Type: v.literal('REQUEST'),
      AuthorizerUri: text,
      AuthorizerResultTtlInSeconds: v.literal(0),
    }),
  },
  'AWS::ApiGateway::Deployment': { properties: v.strictObject({ RestApiId: reference, Description: noEffect }) },
  'AWS::ApiGateway::GatewayResponse': {
    properties: v.strictObject({
      RestApiId: reference,
      ResponseType: text,
      StatusCode: v.optional(status),
      ResponseParameters: v.optional(texts, {}),
      ResponseTemplates: v.optional(v.strictObject({ 'application/json': text })),
    }),
  },
  'AWS::ApiGateway::Method': { properties: methodProperties },
  'AWS::ApiGateway::Resource': {
    properties: v.strictObject({ RestApiId: reference, ParentId: reference, PathPart: text }),
  },
  'AWS::ApiGateway::RestApi': {
    properties: v.strictObject({
      Name: text,
      ApiKeySourceType: v.literal('AUTHORIZER'),
      BinaryMediaTypes: v.optional(v.array(text), []),
      EndpointConfiguration: noEffect,
    }),
    attributes: { RootResourceId: (_, logicalId) => `${logicalId}-root` },
  },
  'AWS::ApiGateway::Stage': {
    properties: stageProperties,
    ref: (_stack, _logicalId, properties) => v.parse(v.object({ StageName: text }), properties).StageName,
  },
  'AWS::ApiGateway::UsagePlan': {
    properties: v.strictObject({
      UsagePlanName: text,
      ApiStages: v.array(
        v.strictObject({ ApiId: reference, Stage: reference, Throttle: v.optional(v.strictObject({})) }),
      ),
      Quota: v.optional(quota),
      Throttle: v.optional(throttle),
      Tags: tags,
    }),
  },
  'AWS::ApiGateway::UsagePlanKey': {
    properties: v.strictObject({ KeyId: reference, KeyType: v.literal('API_KEY'), UsagePlanId: reference }),
  },
  'AWS::DynamoDB::Table': {
    properties: v.strictObject({
      AttributeDefinitions: v.array(
        v.strictObject({ AttributeName: text, AttributeType: v.picklist(['S', 'N', 'B']) }),
      ),
      KeySchema: keySchema,
      GlobalSecondaryIndexes: v.optional(
        v.array(
          v.strictObject({
            IndexName: text,
            KeySchema: keySchema,
            Projection: v.strictObject({ ProjectionType: v.picklist(['ALL', 'KEYS_ONLY']) }),
          }),
        ),
        [],
      ),
      // Takes away what nobody may rely on being there, or being gone.
      TimeToLiveSpecification: noEffect,
      BillingMode: v.literal('PAY_PER_REQUEST'),
      DeletionProtectionEnabled: noEffect,
      PointInTimeRecoverySpecification: noEffect,
      SSESpecification: noEffect,
    }),
    ref: named,
    attributes: { Arn: arnOf('dynamodb', 'table/') },
  },
  'AWS::Events::Rule': {
    properties: v.strictObject({
      Description: noEffect,
      EventPattern: v.optional(v.record(text, v.unknown())),
      ScheduleExpression: v.optional(text),
      State: v.optional(v.picklist(['ENABLED', 'DISABLED']), 'ENABLED'),
      Targets: v.optional(v.array(v.strictObject({ Arn: text, Id: text })), []),
    }),
    ref: named,
    attributes: { Arn: arnOf('events', 'rule/') },
  },
  'AWS::IAM::Policy': {
    properties: v.strictObject({ PolicyName: noEffect, PolicyDocument: noEffect, Roles: noEffect }),
  },
  'AWS::IAM::Role': {
    properties: v.strictObject({ AssumeRolePolicyDocument: noEffect, ManagedPolicyArns: noEffect }),
    attributes: {
      Arn: (stack, logicalId) => `arn:${account.partition}:iam::${account.id}:role/${named(stack, logicalId)}`,
    },
  },
  'AWS::Lambda::EventSourceMapping': {
    properties: v.strictObject({
      EventSourceArn: text,
      FunctionName: text,
      BatchSize: v.optional(wholeNumber(1, 10_000), 10),
      MaximumBatchingWindowInSeconds: v.optional(wholeNumber(0, 300), 0),
      ScalingConfig: v.optional(v.strictObject({ MaximumConcurrency: wholeNumber(2, 1_000) })),
      Enabled: v.optional(v.boolean(), true),
    }),
  },
  'AWS::Lambda::Function': {
    properties: v.strictObject({
      Code: v.strictObject({ S3Bucket: text, S3Key: text }),
      Handler: text,
      Runtime: v.literal('nodejs24.x'),
      Architectures: noEffect,
      Description: noEffect,
      Environment: v.optional(v.strictObject({ Variables: texts }), { Variables: {} }),
      LoggingConfig: v.strictObject({ LogGroup: reference }),
      MemorySize: v.number(),
      Role: noEffect,
      Timeout: v.number(),
    }),
    ref: named,
    attributes: { Arn: arnOf('lambda', 'function:') },
  },
  'AWS::Lambda::Permission': {
    properties: v.strictObject({ Action: noEffect, FunctionName: noEffect, Principal: noEffect, SourceArn: noEffect }),
  },
  'AWS::Logs::LogGroup': {
    properties: v.strictObject({ RetentionInDays: noEffect }),
    ref: named,
    attributes: { Arn: arnOf('logs', 'log-group:') },
  },
  'AWS::SQS::Queue': {
    properties: v.strictObject({
      KmsDataKeyReusePeriodSeconds: noEffect,
      KmsMasterKeyId: noEffect,
      MessageRetentionPeriod: v.optional(wholeNumber(60, 1_209_600), 345_600),
      RedriveAllowPolicy: noEffect,
      RedrivePolicy: v.optional(v.strictObject({ deadLetterTargetArn: text, maxReceiveCount: wholeNumber(1, 1_000) })),
      SqsManagedSseEnabled: noEffect,
      VisibilityTimeout: v.optional(wholeNumber(0, 43_200), 30),
    }),
    ref: (stack, logicalId) =>
      `https://sqs.${account.region}.${account.urlSuffix}/${account.id}/${named(stack, logicalId)}`,
    attributes: { Arn: arnOf('sqs', ''), QueueName: named },
  },
  'AWS::SQS::QueuePolicy': {
    properties: v.strictObject({ PolicyDocument: noEffect, Queues: noEffect }),
  },
} as const satisfies Record<string, ResourceType>;

export type KnownType = keyof typeof resourceTypes;
export type PropertiesOf<Type extends KnownType> = v.InferOutput<(typeof resourceTypes)[Type]['properties']>;
