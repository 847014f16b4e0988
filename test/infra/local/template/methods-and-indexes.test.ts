import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { HostError } from '../../../../infra/local/host-error.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';
import { type EditableResource, resourceOf, ServiceTemplate } from '../../../support/service-template.ts';

const service = new ServiceTemplate();

const METHOD = 'AWS::ApiGateway::Method';
const FUNCTION_METHOD = 'ApiRestApiinventoryGET';
const PREFLIGHT = 'ApiRestApiinventoryOPTIONS';

type Properties = EditableResource['Properties'];

/** Loads the template with one resource changed. */
function loadWith(type: string, id: string, change: (properties: Properties) => void): () => LocalStack {
  const template = service.with((editable) => change(resourceOf(editable, type, id)[1].Properties));
  return () => new LocalStack('staging-Inventory', template);
}

const merge = (name: string, value: object) => (properties: Properties) => {
  properties[name] = { ...v.parse(v.looseObject({}), properties[name]), ...value };
};

const response = (differences: object) => ({ IntegrationResponses: [{ StatusCode: '204', ...differences }] });

describe('a method of the template', () => {
  test.each([
    ['streams where its integration says so', FUNCTION_METHOD, { ResponseTransferMode: 'STREAM' }],
    ['does not where it says so', FUNCTION_METHOD, { ResponseTransferMode: 'BUFFERED' }],
    ['may be answered without a header', PREFLIGHT, response({})],
  ])('%s', (_, id, integration) => {
    const stack = loadWith(METHOD, id, merge('Integration', integration))();
    const method = stack.resources(METHOD).find(({ logicalId }) => logicalId.startsWith(id));

    expect(method?.properties.Integration).toMatchObject(integration);
  });

  test.each([
    [
      'answers in another mode',
      FUNCTION_METHOD,
      { ResponseTransferMode: 'CHUNKED' },
      'Integration.ResponseTransferMode',
    ],
    ['calls a server', FUNCTION_METHOD, { Type: 'HTTP_PROXY' }, 'Integration.Type'],
    ['has a fixed answer for those with a key', FUNCTION_METHOD, { Type: 'MOCK' }, 'Integration.Type'],
    ['calls a function for anybody', PREFLIGHT, { Type: 'AWS_PROXY' }, 'Integration.Type'],
    [
      'passes on what it has no template for',
      PREFLIGHT,
      { PassthroughBehavior: 'NEVER' },
      'Integration.PassthroughBehavior',
    ],
    ['reads XML', PREFLIGHT, { RequestTemplates: { 'text/xml': '' } }, 'Integration.RequestTemplates.application/json'],
    [
      'reads XML besides',
      PREFLIGHT,
      { RequestTemplates: { 'application/json': '{}', 'text/xml': '' } },
      'Integration.RequestTemplates.text/xml',
    ],
    ['has no answer', PREFLIGHT, { IntegrationResponses: undefined }, 'Integration.IntegrationResponses'],
    [
      'has a body',
      PREFLIGHT,
      response({ ResponseTemplates: {} }),
      'Integration.IntegrationResponses.0.ResponseTemplates',
    ],
    [
      'chooses',
      PREFLIGHT,
      response({ SelectionPattern: '2..' }),
      'Integration.IntegrationResponses.0.SelectionPattern',
    ],
    [
      'has a status that is none',
      PREFLIGHT,
      response({ StatusCode: '2xx' }),
      'Integration.IntegrationResponses.0.StatusCode',
    ],
  ])('stops the local host where it %s', (_, id, integration, property) => {
    const load = loadWith(METHOD, id, merge('Integration', integration));

    expect(load).toThrow(HostError);
    expect(load).toThrow(new RegExp(`^Resource ${id}\\w+ \\(${METHOD}\\): .* property ${property}( |$)`));
  });

  test.each([
    ['needs a key and asks nobody', PREFLIGHT, { ApiKeyRequired: true }, 'ApiKeyRequired'],
    ['calls a function and asks nobody', FUNCTION_METHOD, { AuthorizationType: 'NONE' }, 'ApiKeyRequired'],
    ['is for users of AWS', FUNCTION_METHOD, { AuthorizationType: 'AWS_IAM' }, 'AuthorizationType'],
    ['is for users of Cognito', FUNCTION_METHOD, { AuthorizationType: 'COGNITO_USER_POOLS' }, 'AuthorizationType'],
    ['has an authorizer that it does not ask', PREFLIGHT, { AuthorizerId: 'one' }, 'AuthorizerId'],
  ])('stops the local host where it %s', (_, id, differences, property) => {
    const load = loadWith(METHOD, id, (properties) => Object.assign(properties, differences));

    expect(load).toThrow(HostError);
    expect(load).toThrow(new RegExp(`^Resource ${id}\\w+ \\(${METHOD}\\): .* property ${property}( |$)`));
  });
});

describe('an index of the template', () => {
  const index = {
    IndexName: 'byStatus',
    KeySchema: [{ AttributeName: 'status', KeyType: 'HASH' }],
    Projection: { ProjectionType: 'ALL' },
  };
  const loadIndex = (differences: object) =>
    loadWith('AWS::DynamoDB::Table', 'TablesStock', (properties) => {
      properties.GlobalSecondaryIndexes = [{ ...index, ...differences }];
    });

  test.each(['ALL', 'KEYS_ONLY'])('may have %s of each item', (ProjectionType) => {
    expect(loadIndex({ Projection: { ProjectionType } })).not.toThrow();
  });

  test.each([
    ['some attributes of each item', { Projection: { ProjectionType: 'INCLUDE' } }, '0.Projection.ProjectionType'],
    ['capacity of its own', { ProvisionedThroughput: {} }, '0.ProvisionedThroughput'],
    ['a key of another kind', { KeySchema: [{ AttributeName: 'a', KeyType: 'X' }] }, '0.KeySchema.0.KeyType'],
    ['no name', { IndexName: undefined }, '0.IndexName'],
  ])('stops the local host where it has %s', (_, differences, property) => {
    const load = loadIndex(differences);

    expect(load).toThrow(HostError);
    expect(load).toThrow(
      new RegExp(
        `^Resource TablesStock\\w+ \\(AWS::DynamoDB::Table\\): .* property GlobalSecondaryIndexes\\.${property}( |$)`,
      ),
    );
  });
});
