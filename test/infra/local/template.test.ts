import { describe, expect, test } from '@jest/globals';
import { LocalServerError } from '../../../infra/local/local-server-error.ts';
import { resolveIntrinsics, type Resource, ServedStack } from '../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../support/service-template.ts';

const service = new ServiceTemplate();

const load = (template: unknown) => new ServedStack('staging-Inventory', template);

const METHOD = 'AWS::ApiGateway::Method';
const readMethod = (method: Resource) => [method.text('HttpMethod'), method.text('ResourceId')];

const AUTHORIZER = 'AWS::ApiGateway::Authorizer';

const API = 'AWS::ApiGateway::RestApi';
const STAGE = 'AWS::ApiGateway::Stage';
const LAMBDA = 'AWS::Lambda::Function';

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
    ['Integration.Credentials', METHOD, { Credentials: 'arn:aws:iam::1:role/r' }],
    ['Integration.RequestParameters', METHOD, { RequestParameters: {} }],
    ['RoutingConfig', 'AWS::Lambda::Alias', {}],
    ['ReservedConcurrentExecutions', LAMBDA, 0],
  ])('with an unsupported %s of %s stops the local server: %j', (path, type, value) => {
    const [name = ''] = path.split('.');
    const template = service.with((editable) => (resourceOf(editable, type)[1].Properties[name] = value));
    const read = () => load(template);

    expect(read).toThrow(LocalServerError);
    expect(read).toThrow(`(${type}), property ${path}: the local server supports only `);
  });

  test.each<[what: string, change: (template: EditableTemplate) => unknown, message: RegExp]>([
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
      'an unresolved reference',
      (template) => (resourceOf(template, METHOD)[1].Properties.ResourceId = { Ref: 'None' }),
      /^Resource \w+ \(AWS::ApiGateway::Method\), property ResourceId: the local server does not support Ref "None"$/,
    ],
    [
      'an unresolved output',
      (template) => (template.Outputs = { Url: { Value: { Ref: 'None' } } }),
      /^Resource Outputs .* property Url.Value: .* does not support Ref "None"$/,
    ],
  ])('with %s stops the local server', (_, change, message) => {
    const template = service.with(change);
    const read = () => load(template).resources(METHOD).map(readMethod);

    expect(read).toThrow(LocalServerError);
    expect(read).toThrow(message);
  });

  test('may have unknown properties and resources that do not serve requests', () => {
    const template = service.with((editable) => {
      const Surprise = { 'Fn::If': ['A', 'b', 'c'] };
      Object.assign(resourceOf(editable, METHOD)[1].Properties, { Surprise });
      editable.Conditions = { C: {} };
      editable.Resources.Thing = { Type: 'AWS::IoT::Thing', Properties: { Surprise } };
    });

    expect(load(template).resources(METHOD).map(readMethod)).not.toEqual([]);
  });
});

const none = () => undefined;

test.each([
  [{ Ref: 'Other' }],
  [{ 'Fn::If': ['IsProduction', 'a', 'b'] }],
  [{ 'Fn::Select': [2, ['a', 'b']] }],
  [{ 'Fn::Sub': '${Other}' }],
])('an unsupported intrinsic function stops the local server, which names it: %j', (value) => {
  const [name, argument] = Object.entries(value)[0] ?? [];
  const names = { ref: none, attribute: none, joined: String };
  const resolve = () => resolveIntrinsics([{ 'Fn::Join': ['', ['a', value]] }], names, 'Here');

  expect(resolve).toThrow(
    new LocalServerError(`Here: the local server does not support ${name} ${JSON.stringify(argument)}`),
  );
});
