import { describe, expect, test } from '@jest/globals';
import { GatewayRecords } from '../../../infra/local/control-plane/gateway-records.ts';
import { tablesOf } from '../../../infra/local/dynamodb/tables.ts';
import { loadRestApi } from '../../../infra/local/gateway/load-rest-api.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { resolveIntrinsics } from '../../../infra/local/template/intrinsics.ts';
import { type Resource, ServedStack } from '../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../support/service-template.ts';

const service = new ServiceTemplate();

const load = (template: unknown) => new ServedStack('staging-Inventory', template);

const METHOD = 'AWS::ApiGateway::Method';
const readMethod = (method: Resource) => [method.text('HttpMethod'), method.text('ResourceId')];

const AUTHORIZER = 'AWS::ApiGateway::Authorizer';
const TABLE = 'AWS::DynamoDB::Table';

describe('a template', () => {
  test.each<[what: string, type: string, properties: Record<string, unknown>, message: string]>([
    ['an authorizer that caches', AUTHORIZER, { AuthorizerResultTtlInSeconds: 300 }, 'AuthorizerResultTtlInSeconds'],
    ['an authorizer that caches by default', AUTHORIZER, { AuthorizerResultTtlInSeconds: undefined }, 'Ttl'],
    [
      'an identity source',
      AUTHORIZER,
      { IdentitySource: 'method.request.header.A' },
      'does not support IdentitySource',
    ],
    ['an index', TABLE, { LocalSecondaryIndexes: [] }, 'does not support LocalSecondaryIndexes'],
  ])('with %s stops the local server, which would answer otherwise than AWS', (_, type, properties, message) => {
    const template = service.with((editable) => Object.assign(resourceOf(editable, type)[1].Properties, properties));
    const stack = load(template);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- none is called
    const functions = { get: () => ({}) } as unknown as Parameters<typeof loadRestApi>[1];
    const read = () => [tablesOf(stack), loadRestApi(stack, functions, new GatewayRecords())];

    expect(read).toThrow(HostError);
    expect(read).toThrow(message);
  });

  test.each<[what: string, change: (template: EditableTemplate) => unknown, message: RegExp]>([
    [
      'a resource that serves requests in a way that is not known',
      ({ Resources }) => (Resources.Layer = { Type: 'AWS::Lambda::LayerVersion', Properties: {} }),
      /^Resource Layer: .* type AWS::Lambda::LayerVersion$/,
    ],
    [
      'no property that the host needs',
      (template) => delete resourceOf(template, METHOD)[1].Properties.HttpMethod,
      /^Resource \w+ \(AWS::ApiGateway::Method\): .* property HttpMethod /,
    ],
    [
      'a reference that leads nowhere',
      (template) => (resourceOf(template, METHOD)[1].Properties.ResourceId = { Ref: 'None' }),
      /^Resource \w+ \(AWS::ApiGateway::Method\): .* property ResourceId .*Ref "None", which it does not support/,
    ],
    [
      'an output that refers to nothing',
      (template) => (template.Outputs = { Url: { Value: { Ref: 'None' } } }),
      /^Resource Outputs .* property Url.Value .*Ref "None", which/,
    ],
  ])('with %s stops the local server', (_, change, message) => {
    const template = service.with(change);
    const read = () => load(template).resources(METHOD).map(readMethod);

    expect(read).toThrow(HostError);
    expect(read).toThrow(message);
  });

  test('may have any other property, and any resource that serves no request', () => {
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
])('An intrinsic function that is not known stays unknown, and says what it is: %j', (value) => {
  const [name, argument] = Object.entries(value)[0] ?? [];
  const resolved = resolveIntrinsics([{ 'Fn::Join': ['', ['a', value]] }], {
    ref: none,
    attribute: none,
    imported: none,
  });

  expect(Array.isArray(resolved) && resolved.map(String)).toEqual([`Symbol(${name} ${JSON.stringify(argument)})`]);
});
