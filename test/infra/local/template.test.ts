import { describe, expect, test } from '@jest/globals';
import { HostError } from '../../../infra/local/host-error.ts';
import { resolveIntrinsics } from '../../../infra/local/template/intrinsics.ts';
import { resourceTypes } from '../../../infra/local/template/resource-types.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../support/service-template.ts';

const service = new ServiceTemplate();

const load = (template: unknown) => new ServedStack('staging-Inventory', template);

describe('a property or a value that the local host does not know stops it', () => {
  test.each<[what: string, type: string, property: string, value: unknown]>([
    ['a cache', 'ApiGateway::Stage', 'CacheClusterEnabled', true],
    ['an authorizer that is cached by default', 'ApiGateway::Authorizer', 'AuthorizerResultTtlInSeconds', undefined],
    ['keys from the header', 'ApiGateway::RestApi', 'ApiKeySourceType', 'HEADER'],
    ['an integration of another kind', 'ApiGateway::Method', 'Integration', { Type: 'HTTP' }],
    ['a yearly quota', 'ApiGateway::UsagePlan', 'Quota', { Limit: 1, Period: 'YEAR' }],
  ])('%s', (_, type, property, value) => {
    const template = service.with((editable) => {
      const { Properties } = resourceOf(editable, `AWS::${type}`)[1];
      if (value === undefined) delete Properties[property];
      else Properties[property] = value;
    });
    const [id] = resourceOf(template, `AWS::${type}`);

    expect(() => load(template)).toThrow(HostError);
    expect(() => load(template)).toThrow(`Resource ${id} (AWS::${type}): the local host does not`);
    expect(() => load(template)).toThrow(new RegExp(`property ${property}\\b`));
  });

  const inTemplate = new Set(Object.values(service.unchanged.Resources).map(({ Type }) => Type));

  test.each(Object.keys(resourceTypes).filter((type) => inTemplate.has(type)))('a new one of %s', (type) => {
    const template = service.with((editable) => {
      resourceOf(editable, type)[1].Properties.Surprise = true;
    });

    expect(() => load(template)).toThrow(/property Surprise$/);
  });
});

describe('anything else that the local host does not know', () => {
  test.each<[string, (template: EditableTemplate) => unknown, RegExp]>([
    [
      'a resource type of a service that it serves',
      ({ Resources }) => (Resources.Layer = { Type: 'AWS::Lambda::LayerVersion', Properties: {} }),
      /^Resource Layer: .* type AWS::Lambda::LayerVersion$/,
    ],
    [
      'a condition on a resource',
      (template) => (resourceOf(template, 'AWS::DynamoDB::Table')[1].Condition = 'C'),
      /^Resource TablesStock\w+ \(AWS::DynamoDB::Table\): .* property Condition$/,
    ],
    [
      'a transform',
      (template) => (template.Transform = 'AWS::Serverless-2016-10-31'),
      /^The template: .* property Transform$/,
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
  ])('stops it: %s', (_, change, message) => {
    const template = service.with(change);

    expect(() => load(template)).toThrow(HostError);
    expect(() => load(template)).toThrow(message);
  });

  test('is none of its business in what it does not serve', () => {
    const template = service.with((editable) => {
      const Properties = { Tags: { 'Fn::If': ['A', 'b', 'c'] } };
      Object.assign(resourceOf(editable, 'AWS::Logs::QueryDefinition')[1], { Condition: 'C', Properties });
      editable.Conditions = { C: {} };
      editable.Resources.Thing = { Type: 'AWS::IoT::Thing', Properties: {} };
    });

    expect(() => load(template)).not.toThrow();
  });
});

describe('an intrinsic function', () => {
  const refs: Readonly<Record<string, string>> = { Table: 'stock-table', 'AWS::Region': 'us-east-1' };
  const names = {
    ref: (name: string) => refs[name],
    attribute: (resource: string, attribute: string) =>
      `${resource}.${attribute}` === 'Table.Arn' ? 'arn:aws:dynamodb:us-east-1:0:table/stock-table' : undefined,
    imported: (name: string) => (name === 'staging-Origin' ? 'https://example.com' : undefined),
  };
  const resolve = (value: unknown) => resolveIntrinsics(value, names, 'Resource Table');

  test.each([
    [{ Ref: 'Table' }, 'stock-table'],
    [{ 'Fn::ImportValue': 'staging-Origin' }, 'https://example.com'],
    [{ 'Fn::Join': ['', ['a', 'b', { Ref: 'Table' }]] }, 'abstock-table'],
    [{ 'Fn::Select': [3, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Table', 'Arn'] }] }] }, 'us-east-1'],
    [{ 'Fn::Sub': 'cdk-${AWS::Region}-${Table}' }, 'cdk-us-east-1-stock-table'],
  ])('%j is %j', (value, resolved) => {
    expect(resolve(value)).toEqual(resolved);
  });

  test.each([
    [{ Ref: 'Other' }],
    [{ 'Fn::If': ['IsProduction', 'a', 'b'] }],
    [{ 'Fn::Select': [2, ['a', 'b']] }],
    [{ 'Fn::Sub': '${Other}' }],
  ])('that is not known stops the host, with the place named, deep inside too: %j', (value) => {
    const [name, argument] = Object.entries(value)[0] ?? [];
    const message = `Resource Table: the local host does not know ${name} ${JSON.stringify(argument)}`;

    expect(() => resolve({ deep: [{ 'Fn::Join': ['', ['a', value]] }] })).toThrow(new HostError(message));
  });
});
