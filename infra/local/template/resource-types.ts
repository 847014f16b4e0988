import * as v from 'valibot';
import { apiGatewayTypes } from './api-gateway-types.ts';
import { arnOf, named, noEffect, type ResourceType, text, texts } from './resource-type.ts';

const dynamodbTypes = {
  'AWS::DynamoDB::Table': {
    properties: v.strictObject({
      AttributeDefinitions: v.array(
        v.strictObject({ AttributeName: text, AttributeType: v.picklist(['S', 'N', 'B']) }),
      ),
      KeySchema: v.array(v.strictObject({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) })),
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
} as const satisfies Record<string, ResourceType>;

/** EventBridge, as far as the sync of keys uses it. The queue behind it is not imitated. */
const eventTypes = {
  'AWS::Events::Rule': {
    properties: v.strictObject({
      Description: noEffect,
      EventPattern: v.optional(v.looseObject({ source: v.tuple([v.literal('aws.apigateway')]) })),
      ScheduleExpression: v.optional(text),
      State: v.optional(v.literal('ENABLED'), 'ENABLED'),
      Targets: v.array(v.strictObject({ Arn: text, Id: text })),
    }),
    ref: named,
    attributes: { Arn: arnOf('events', 'rule/') },
  },
} as const satisfies Record<string, ResourceType>;

/** How an alias in the template says which function it belongs to. */
const namesFunction = v.object({ FunctionName: v.object({ Ref: text }), Name: text });

const functionArn = arnOf('lambda', 'function:');

const lambdaTypes = {
  'AWS::Lambda::Alias': {
    properties: v.strictObject({ FunctionName: text, FunctionVersion: text, Name: text }),
    ref: (stack, _logicalId, properties) => {
      const { FunctionName, Name } = v.parse(namesFunction, properties);
      return `${functionArn(stack, FunctionName.Ref)}:${Name}`;
    },
  },
  'AWS::Lambda::EventSourceMapping': {
    properties: v.strictObject({
      EventSourceArn: text,
      FunctionName: text,
      BatchSize: noEffect,
      MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
      // The host runs one sync at a time.
      ScalingConfig: noEffect,
      Enabled: v.optional(v.literal(true), true),
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
      LoggingConfig: v.strictObject({ LogGroup: text }),
      MemorySize: v.number(),
      // It protects the other functions of an account, which a laptop does not have.
      ReservedConcurrentExecutions: noEffect,
      Role: noEffect,
      Timeout: v.number(),
      TracingConfig: noEffect,
    }),
    ref: named,
    attributes: { Arn: functionArn },
  },
  'AWS::Lambda::Version': {
    properties: v.strictObject({ FunctionName: text }),
    // There is one version at a time: what was synthesized.
    attributes: { Version: () => '1' },
  },
} as const satisfies Record<string, ResourceType>;

/**
 * The services that the local host imitates: it has to know every resource type of theirs. It reads nothing of any other
 * (permissions, alarms, logs, names).
 */
export const servedServices = ['AWS::ApiGateway', 'AWS::DynamoDB::', 'AWS::Events::', 'AWS::Lambda::'];

/** Types of a served service that do nothing on a laptop. */
export const typesWithoutEffect: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::Lambda::Permission',
]);

/** All that the local host serves. */
export const resourceTypes = {
  ...apiGatewayTypes,
  ...dynamodbTypes,
  ...eventTypes,
  ...lambdaTypes,
};

export type KnownType = keyof typeof resourceTypes;
export type PropertiesOf<Type extends KnownType> = v.InferOutput<(typeof resourceTypes)[Type]['properties']>;
