import * as v from 'valibot';
import { templateTagsSchema } from '../gateway-records/records.ts';
import { noEffect, type ResourceType, text, texts } from './resource-type.ts';

const status = v.pipe(text, v.regex(/^\d{3}$/));

const stageProperties = v.strictObject({
  RestApiId: text,
  DeploymentId: noEffect,
  StageName: text,
  // Metrics, and a throttle for all clients together: a laptop has neither so many, nor a bill.
  MethodSettings: noEffect,
  TracingEnabled: noEffect,
  AccessLogSetting: v.optional(v.strictObject({ DestinationArn: text, Format: text })),
});

const methodPlace = { RestApiId: text, ResourceId: text, HttpMethod: text };

const methodProperties = v.variant('AuthorizationType', [
  v.strictObject({
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
  }),
  // An answer that is always the same.
  v.strictObject({
    ...methodPlace,
    AuthorizationType: v.literal('NONE'),
    ApiKeyRequired: v.optional(v.literal(false), false),
    Integration: v.strictObject({
      Type: v.literal('MOCK'),
      RequestTemplates: v.strictObject({ 'application/json': text }),
      IntegrationResponses: v.array(
        v.strictObject({
          StatusCode: status,
          ResponseParameters: v.optional(texts, {}),
          ResponseTemplates: v.optional(v.strictObject({ 'application/json': text })),
        }),
      ),
    }),
    MethodResponses: noEffect,
  }),
]);

const quota = v.strictObject({ Limit: v.number(), Period: v.literal('DAY') });
const throttle = v.strictObject({ RateLimit: v.number(), BurstLimit: v.number() });
const tags = v.optional(templateTagsSchema, []);

/** API Gateway. */
export const apiGatewayTypes = {
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
      RestApiId: text,
      Name: noEffect,
      Type: v.literal('REQUEST'),
      AuthorizerUri: text,
      AuthorizerResultTtlInSeconds: v.literal(0),
    }),
  },
  'AWS::ApiGateway::GatewayResponse': {
    properties: v.strictObject({
      RestApiId: text,
      ResponseType: text,
      StatusCode: v.optional(status),
      ResponseParameters: v.optional(texts, {}),
      ResponseTemplates: v.optional(v.strictObject({ 'application/json': text })),
    }),
  },
  'AWS::ApiGateway::Method': { properties: methodProperties },
  'AWS::ApiGateway::Resource': {
    properties: v.strictObject({ RestApiId: text, ParentId: text, PathPart: text }),
  },
  'AWS::ApiGateway::RestApi': {
    properties: v.strictObject({
      Name: text,
      ApiKeySourceType: v.literal('AUTHORIZER'),
      EndpointConfiguration: noEffect,
      // The host has an address of its own, without TLS.
      DisableExecuteApiEndpoint: noEffect,
      EndpointAccessMode: noEffect,
      SecurityPolicy: noEffect,
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
      ApiStages: v.array(v.strictObject({ ApiId: text, Stage: text, Throttle: v.optional(v.strictObject({})) })),
      Quota: v.optional(quota),
      Throttle: v.optional(throttle),
      Tags: tags,
    }),
  },
  'AWS::ApiGateway::UsagePlanKey': {
    properties: v.strictObject({ KeyId: text, KeyType: v.literal('API_KEY'), UsagePlanId: text }),
  },
} as const satisfies Record<string, ResourceType>;
