import * as v from 'valibot';

const absent = v.optional(v.undefined());
const off = v.optional(v.literal(false));
const notZero = v.optional(v.pipe(v.number(), v.minValue(1)));
const eachWith = <Entries extends v.ObjectEntries>(entries: Entries) => v.optional(v.array(v.object(entries)));

/**
 * Properties with which API Gateway, DynamoDB or Lambda would respond otherwise than the local server, by resource type, with the
 * values that it supports. This list is closed: other properties have no effect here.
 */
export const supportedProperties: Readonly<Record<string, Readonly<Record<string, v.GenericSchema>>>> = {
  'AWS::ApiGateway::RestApi': {
    ApiKeySourceType: v.literal('AUTHORIZER'),
    BinaryMediaTypes: absent,
    DisableExecuteApiEndpoint: off,
    MinimumCompressionSize: absent,
    Policy: absent,
  },
  'AWS::ApiGateway::GatewayResponse': { ResponseTemplates: v.strictObject({ 'application/json': v.string() }) },
  'AWS::ApiGateway::Stage': {
    CacheClusterEnabled: off,
    CanarySetting: absent,
    MethodSettings: eachWith({ CachingEnabled: off, ThrottlingBurstLimit: notZero, ThrottlingRateLimit: notZero }),
    Variables: absent,
  },
  // With a role, API Gateway needs no permission of the function.
  'AWS::ApiGateway::Authorizer': {
    AuthorizerCredentials: absent,
    // By default, it caches for five minutes.
    AuthorizerResultTtlInSeconds: v.literal(0),
    IdentitySource: absent,
    Type: v.literal('REQUEST'),
  },
  'AWS::ApiGateway::Method': {
    'Integration.Credentials': absent,
    'Integration.IntegrationResponses': eachWith({ ResponseTemplates: absent, SelectionPattern: absent }),
    'Integration.RequestParameters': absent,
    RequestValidatorId: absent,
  },
  // Transactions keep no index up to date, and no table has one.
  'AWS::DynamoDB::Table': { GlobalSecondaryIndexes: absent, LocalSecondaryIndexes: absent },
  'AWS::Lambda::Alias': { RoutingConfig: absent },
  'AWS::Lambda::Function': { ReservedConcurrentExecutions: notZero },
};
