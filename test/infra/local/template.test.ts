import { describe, expect, test } from '@jest/globals';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../support/service-template.ts';

const service = new ServiceTemplate();

const METHOD = 'AWS::ApiGateway::Method';
const AUTHORIZER = 'AWS::ApiGateway::Authorizer';
const API = 'AWS::ApiGateway::RestApi';
const STAGE = 'AWS::ApiGateway::Stage';
const LAMBDA = 'AWS::Lambda::Function';

const readWith = (change: (template: EditableTemplate) => void): unknown[] =>
  new ServedStack('staging-Inventory', service.with(change))
    .resources(METHOD)
    .map((method) => [method.text('HttpMethod'), method.text('ResourceId')]);

/** An error that the start prints in one line. */
const refusal = (message: RegExp): unknown =>
  expect.objectContaining({ name: 'LocalServerError', message: expect.stringMatching(message) });

describe('a template', () => {
  test.each<[property: string, type: string, value: unknown]>([
    ['AuthorizerResultTtlInSeconds', AUTHORIZER, 300],
    ['AuthorizerResultTtlInSeconds', AUTHORIZER, undefined],
    ['IdentitySource', AUTHORIZER, 'method.request.header.A'],
    ['AuthorizerCredentials', AUTHORIZER, 'arn:aws:iam::1:role/r'],
    ['Type', AUTHORIZER, 'TOKEN'],
    ['Policy', API, { Statement: [] }],
    ['BinaryMediaTypes', API, ['image/png']],
    ['MinimumCompressionSize', API, 0],
    ['DisableExecuteApiEndpoint', API, true],
    ['ApiKeySourceType', API, 'HEADER'],
    ['CacheClusterEnabled', STAGE, true],
    ['Variables', STAGE, { a: 'b' }],
    ['MethodSettings.0.CachingEnabled', STAGE, [{ CachingEnabled: true }]],
    ['MethodSettings.0.ThrottlingRateLimit', STAGE, [{ ThrottlingRateLimit: 0 }]],
    ['MethodSettings.0.ThrottlingBurstLimit', STAGE, [{ ThrottlingBurstLimit: 0 }]],
    ['CanarySetting', STAGE, { PercentTraffic: 10 }],
    ['ResponseTemplates.text/xml', 'AWS::ApiGateway::GatewayResponse', { 'application/json': '', 'text/xml': '' }],
    ['RequestValidatorId', METHOD, 'v1'],
    [
      'Integration.IntegrationResponses.0.SelectionPattern',
      METHOD,
      { IntegrationResponses: [{ SelectionPattern: 'a' }] },
    ],
    ['Integration.Credentials', METHOD, { Credentials: 'arn:aws:iam::1:role/r' }],
    ['Integration.RequestParameters', METHOD, { RequestParameters: {} }],
    ['GlobalSecondaryIndexes', 'AWS::DynamoDB::Table', [{ IndexName: 'a' }]],
    ['LocalSecondaryIndexes', 'AWS::DynamoDB::Table', [{ IndexName: 'a' }]],
    ['RoutingConfig', 'AWS::Lambda::Alias', {}],
    ['ReservedConcurrentExecutions', LAMBDA, 0],
  ])('with an unsupported %s of %s stops the local server: %j', (path, type, value) => {
    const [name = ''] = path.split('.');
    const read = () => readWith((template) => void (resourceOf(template, type)[1].Properties[name] = value));

    expect(read).toThrow(refusal(new RegExp(`\\(${type}\\), property ${path}: the local server supports only `)));
  });

  test.each<[what: string, change: (template: EditableTemplate) => void, message: RegExp]>([
    [
      'a resource that serves requests in an unsupported way',
      ({ Resources }) => (Resources.Url = { Type: 'AWS::Lambda::Url', Properties: {} }),
      /^Resource Url: .* type AWS::Lambda::Url$/,
    ],
    [
      'no property that the server needs',
      (template) => delete resourceOf(template, METHOD)[1].Properties.HttpMethod,
      /^Resource \w+ \(AWS::ApiGateway::Method\), property HttpMethod: .* only string, got undefined$/,
    ],
    [
      'an unresolved output',
      (template) => (template.Outputs = { Url: { Value: { Ref: 'None' } } }),
      /^Resource Outputs .* property Url.Value: .* does not support Ref "None"$/,
    ],
  ])('with %s stops the local server', (_, change, message) => {
    expect(() => readWith(change)).toThrow(refusal(message));
  });

  test.each([
    ['Ref', 'None'],
    ['Fn::If', ['IsProduction', 'a', 'b']],
    ['Fn::Select', [2, ['a', 'b']]],
    ['Fn::Sub', '${None}'],
  ])('with an unsupported %s %j stops the local server', (name, argument) => {
    const ResourceId = { 'Fn::Join': ['', ['a', { [name]: argument }]] };
    const read = () =>
      readWith((template) => Object.assign(resourceOf(template, METHOD)[1].Properties, { ResourceId }));

    expect(read).toThrow(/^Resource \w+ \(AWS::ApiGateway::Method\), property ResourceId: /);
    expect(read).toThrow(`the local server does not support ${name} ${JSON.stringify(argument)}`);
  });

  test('may have unknown properties and resources that do not serve requests', () => {
    const Surprise = { 'Fn::If': ['A', 'b', 'c'] };
    const read = readWith((template) => {
      Object.assign(resourceOf(template, METHOD)[1].Properties, { Surprise });
      template.Conditions = { C: {} };
      template.Resources.Thing = { Type: 'AWS::IoT::Thing', Properties: { Surprise } };
    });

    expect(read).not.toEqual([]);
  });
});
