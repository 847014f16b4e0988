import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { HostError } from '../../../../infra/local/host-error.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../../support/service-template.ts';

const service = new ServiceTemplate();

const load = (template: unknown) => new LocalStack('staging-Inventory', template);

describe('the template of the service', () => {
  const stack = load(service.unchanged);

  test.each([
    ['AWS::ApiGateway::RestApi', 1],
    ['AWS::ApiGateway::Stage', 1],
    ['AWS::ApiGateway::Authorizer', 1],
    ['AWS::ApiGateway::Resource', 7],
    ['AWS::ApiGateway::Method', 14],
    ['AWS::ApiGateway::GatewayResponse', 21],
    ['AWS::ApiGateway::UsagePlan', 6],
    ['AWS::ApiGateway::ApiKey', 2],
    ['AWS::ApiGateway::UsagePlanKey', 2],
    ['AWS::DynamoDB::Table', 5],
    ['AWS::Lambda::Function', 7],
  ] as const)('has all its resources: %s', (type, count) => {
    expect(stack.resources(type)).toHaveLength(count);
  });

  test('has its functions with everything resolved', () => {
    const update = stack.resources('AWS::Lambda::Function').find(({ ref }) => ref.includes('UpdateInventory'));
    const stock = stack.resources('AWS::DynamoDB::Table').find(({ ref }) => ref.includes('Stock'));

    expect(stock?.ref).toMatch(/^staging-Inventory-TablesStock/);
    expect(update?.properties).toMatchObject({
      Code: { S3Bucket: 'cdk-petstaging-assets-000000000000-us-east-1', S3Key: expect.stringMatching(/\.zip$/) },
      Handler: 'index.handler',
      MemorySize: 1024,
      Timeout: 15,
      LoggingConfig: { LogGroup: expect.stringMatching(/^staging-Inventory-FunctionsUpdateInventoryLogs/) },
      Environment: { Variables: { STOCK_TABLE: stock?.ref, PAGE_ORIGIN: 'https://reference.invalid' } },
    });
  });

  test('names a function by its ARN, where a method calls it too', () => {
    const update = stack.resources('AWS::Lambda::Function').find(({ ref }) => ref.includes('UpdateInventory'));
    const arn = stack.attribute(update?.logicalId ?? '', 'Arn');
    const patch = stack
      .resources('AWS::ApiGateway::Method')
      .find(({ properties }) => properties.HttpMethod === 'PATCH');

    expect(arn).toBe(`arn:aws:lambda:us-east-1:000000000000:function:${update?.ref}`);
    expect(patch?.properties.Integration).toMatchObject({
      Uri: `arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/${arn}:live/invocations`,
    });
  });

  test('fills in what is left out', () => {
    const bare = load(
      service.with((editable) => {
        delete resourceOf(editable, 'AWS::Lambda::Function', 'FunctionsFallback')[1].Properties.Environment;
      }),
    );
    const fallback = bare.resources('AWS::Lambda::Function').find(({ ref }) => ref.includes('Fallback'));
    const [restApi] = bare.resources('AWS::ApiGateway::RestApi');
    const keys = bare.resources('AWS::DynamoDB::Table').find(({ ref }) => ref.includes('Keys'));
    const patch = bare.resources('AWS::ApiGateway::Method').find(({ properties }) => properties.HttpMethod === 'PATCH');

    expect(fallback?.properties.Environment).toEqual({ Variables: {} });
    expect(restApi?.properties.BinaryMediaTypes).toEqual([]);
    expect(keys?.properties.GlobalSecondaryIndexes).toEqual([]);
    expect(patch?.properties.Integration).toMatchObject({ ResponseTransferMode: 'BUFFERED' });
  });

  test('has its outputs', () => {
    expect(stack.outputs).toEqual(
      expect.objectContaining({
        BaseUrl: expect.stringMatching(/^https:\/\/ApiRestApi\w+\.execute-api\.us-east-1\.amazonaws\.com\/v1$/),
        StockTableName: expect.stringMatching(/^staging-Inventory-TablesStock/),
        KeysTableName: expect.stringMatching(/^staging-Inventory-TablesKeys/),
        PetsTableName: expect.stringMatching(/^staging-Inventory-TablesPets/),
        OrdersTableName: expect.stringMatching(/^staging-Inventory-TablesOrders/),
      }),
    );
  });

  test('has no attribute that the local host does not know', () => {
    const [table] = stack.resources('AWS::DynamoDB::Table');

    expect(() => stack.attribute(table?.logicalId ?? '', 'StreamArn')).toThrow(HostError);
    expect(() => stack.attribute('None', 'Arn')).toThrow('Resource None: the local host does not know its Arn');
  });
});

interface Break {
  readonly what: string;
  readonly type: string;
  readonly property: string;
  readonly value: unknown;
}

/** Properties that no template of today has: the local host would have to serve them, or say that it cannot. */
const unknownProperties: readonly Break[] = [
  { what: 'identity sources', type: 'Authorizer', property: 'IdentitySource', value: 'method.request.header.A' },
  { what: 'a role for the authorizer', type: 'Authorizer', property: 'AuthorizerCredentials', value: 'arn' },
  { what: 'a resource policy', type: 'RestApi', property: 'Policy', value: {} },
  { what: 'compression', type: 'RestApi', property: 'MinimumCompressionSize', value: 0 },
  { what: 'an OpenAPI body', type: 'RestApi', property: 'Body', value: {} },
  { what: 'stage variables', type: 'Stage', property: 'Variables', value: { a: 'b' } },
  { what: 'a cache', type: 'Stage', property: 'CacheClusterEnabled', value: true },
  { what: 'a canary', type: 'Stage', property: 'CanarySetting', value: {} },
  { what: 'a validator', type: 'Method', property: 'RequestValidatorId', value: 'v' },
  { what: 'required parameters', type: 'Method', property: 'RequestParameters', value: {} },
  { what: 'request models', type: 'Method', property: 'RequestModels', value: {} },
  { what: 'method responses', type: 'Method', property: 'MethodResponses', value: [] },
  { what: 'a description of a gateway response', type: 'GatewayResponse', property: 'Description', value: 'x' },
  { what: 'a name of a key', type: 'ApiKey', property: 'Name', value: 'x' },
];

describe('a property that the local host does not know', () => {
  test.each(unknownProperties)('stops it: $what', ({ type, property, value }) => {
    const template = service.with((editable) => {
      Object.assign(resourceOf(editable, `AWS::ApiGateway::${type}`)[1].Properties, { [property]: value });
    });
    const [id] = resourceOf(template, `AWS::ApiGateway::${type}`);

    expect(() => load(template)).toThrow(HostError);
    expect(() => load(template)).toThrow(
      `Resource ${id} (AWS::ApiGateway::${type}): the local host does not know the property ${property}`,
    );
  });

  test.each([
    ['AWS::DynamoDB::Table', 'StreamSpecification'],
    ['AWS::DynamoDB::Table', 'LocalSecondaryIndexes'],
    ['AWS::DynamoDB::Table', 'ImportSourceSpecification'],
    ['AWS::Lambda::Function', 'Layers'],
    ['AWS::Lambda::Function', 'ReservedConcurrentExecutions'],
    ['AWS::Lambda::Function', 'VpcConfig'],
  ])('stops it: %s %s', (type, property) => {
    const template = service.with((editable) => {
      Object.assign(resourceOf(editable, type)[1].Properties, { [property]: {} });
    });

    expect(() => load(template)).toThrow(new RegExp(`^Resource \\w+ \\(${type}\\): .* property ${property}$`));
  });

  test('stops it deep inside too', () => {
    const template = service.with((editable) => {
      const { Properties } = resourceOf(editable, 'AWS::ApiGateway::Method')[1];
      const integration = v.parse(v.looseObject({}), Properties.Integration);
      Properties.Integration = { ...integration, CacheKeyParameters: [] };
    });

    expect(() => load(template)).toThrow(/^Resource \w+ \(.*Method\): .* property Integration\.CacheKeyParameters$/);
  });
});

const unsupportedValues: readonly Break[] = [
  { what: 'a cached authorizer', type: 'ApiGateway::Authorizer', property: 'AuthorizerResultTtlInSeconds', value: 300 },
  { what: 'a TOKEN authorizer', type: 'ApiGateway::Authorizer', property: 'Type', value: 'TOKEN' },
  { what: 'keys from the header', type: 'ApiGateway::RestApi', property: 'ApiKeySourceType', value: 'HEADER' },
  { what: 'a method for users of AWS', type: 'ApiGateway::Method', property: 'AuthorizationType', value: 'AWS_IAM' },
  { what: 'a yearly quota', type: 'ApiGateway::UsagePlan', property: 'Quota', value: { Limit: 1, Period: 'YEAR' } },
  { what: 'a throttle of text', type: 'ApiGateway::UsagePlan', property: 'Throttle', value: { RateLimit: '1' } },
  { what: 'a status that is none', type: 'ApiGateway::GatewayResponse', property: 'StatusCode', value: '4xx' },
  {
    what: 'an XML body',
    type: 'ApiGateway::GatewayResponse',
    property: 'ResponseTemplates',
    value: { 'text/xml': '' },
  },
  { what: 'provisioned capacity', type: 'DynamoDB::Table', property: 'BillingMode', value: 'PROVISIONED' },
  { what: 'another runtime', type: 'Lambda::Function', property: 'Runtime', value: 'python3.13' },
  { what: 'inline code', type: 'Lambda::Function', property: 'Code', value: { ZipFile: '' } },
];

describe('a property value that the local host does not support', () => {
  test.each(unsupportedValues)('stops it: $what', ({ type, property, value }) => {
    const template = service.with((editable) => {
      resourceOf(editable, `AWS::${type}`)[1].Properties[property] = value;
    });
    const [id] = resourceOf(template, `AWS::${type}`);

    expect(() => load(template)).toThrow(HostError);
    expect(() => load(template)).toThrow(`Resource ${id} (AWS::${type}): the local host does not`);
    expect(() => load(template)).toThrow(new RegExp(`property ${property}\\b`));
  });

  test.each([
    ['ApiGateway::Authorizer', 'AuthorizerResultTtlInSeconds'],
    ['ApiGateway::RestApi', 'ApiKeySourceType'],
    ['ApiGateway::Method', 'AuthorizerId'],
    ['DynamoDB::Table', 'BillingMode'],
  ])('stops it: %s without %s, which CloudFormation gives another default', (type, property) => {
    const template = service.with((editable) => {
      delete resourceOf(editable, `AWS::${type}`)[1].Properties[property];
    });

    expect(() => load(template)).toThrow(new RegExp(`^Resource \\w+ \\(AWS::${type}\\): .* property ${property}\\b`));
  });

  test('says what it expects and what it got', () => {
    const template = service.with((editable) => {
      resourceOf(editable, 'AWS::ApiGateway::Authorizer')[1].Properties.AuthorizerResultTtlInSeconds = 300;
    });

    expect(() => load(template)).toThrow('property AuthorizerResultTtlInSeconds (expected 0, got 300)');
  });
});

describe('anything else that the local host does not know', () => {
  const cases: readonly [string, (template: EditableTemplate) => unknown, RegExp][] = [
    [
      'a resource type of a service that it serves',
      ({ Resources }) => (Resources.Layer = { Type: 'AWS::Lambda::LayerVersion', Properties: {} }),
      /^Resource Layer: .* type AWS::Lambda::LayerVersion$/,
    ],
    [
      'the other kind of API',
      ({ Resources }) => (Resources.Api = { Type: 'AWS::ApiGatewayV2::Api', Properties: {} }),
      /^Resource Api: .* type AWS::ApiGatewayV2::Api$/,
    ],
    [
      'a condition on a resource',
      (template) => (resourceOf(template, 'AWS::DynamoDB::Table')[1].Condition = 'C'),
      /^Resource TablesStock\w+ \(AWS::DynamoDB::Table\): .* property Condition$/,
    ],
    [
      'a creation policy',
      (template) => (resourceOf(template, 'AWS::Lambda::Function')[1].CreationPolicy = {}),
      /^Resource \w+ \(AWS::Lambda::Function\): .* property CreationPolicy$/,
    ],
    [
      'a transform',
      (template) => (template.Transform = 'AWS::Serverless-2016-10-31'),
      /^The template: .* property Transform$/,
    ],
    [
      'a parameter that is used',
      (template) => {
        template.Parameters = { Size: { Type: 'Number' } };
        resourceOf(template, 'AWS::Lambda::Function')[1].Properties.Timeout = { Ref: 'Size' };
      },
      /^Resource Functions\w+ \(AWS::Lambda::Function\): .* Ref "Size"$/,
    ],
    [
      'an intrinsic function',
      (template) => (resourceOf(template, 'AWS::Lambda::Function')[1].Properties.Timeout = { 'Fn::If': ['A', 5, 9] }),
      /^Resource Functions\w+ \(AWS::Lambda::Function\): .* Fn::If \["A",5,9\]$/,
    ],
    [
      'a resource that is referred to',
      (template) => (resourceOf(template, 'AWS::ApiGateway::Method')[1].Properties.AuthorizerId = { Ref: 'None' }),
      /^Resource \w+ \(AWS::ApiGateway::Method\): .* Ref "None"$/,
    ],
    [
      'what an output refers to',
      (template) => (template.Outputs = { Url: { Value: { Ref: 'None' } } }),
      /^Output Url: .* Ref "None"$/,
    ],
  ];

  test.each(cases)('stops it: %s', (_, change, message) => {
    const template = service.with(change);

    expect(() => load(template)).toThrow(HostError);
    expect(() => load(template)).toThrow(message);
  });

  test.each([
    ['AWS::IAM::Role', { Policies: [] }],
    ['AWS::CloudWatch::Alarm', { Tags: { 'Fn::If': ['A', 'b', 'c'] } }],
  ])('is none of its business in what it does not serve: %s', (type, properties) => {
    const template = service.with((editable) => {
      Object.assign(resourceOf(editable, type)[1], { Condition: 'C', Properties: properties });
      editable.Conditions = { C: {} };
      editable.Resources.Thing = { Type: 'AWS::IoT::Thing', Properties: {} };
    });

    expect(() => load(template)).not.toThrow();
  });

  test.each([[null], ['text'], [[]], [{}]])('stops it: %j instead of a template', (template) => {
    expect(() => load(template)).toThrow(HostError);
  });
});
