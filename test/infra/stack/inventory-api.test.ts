import * as apiGateway from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { methodsOf, operations } from '../../../shared/contract/operations.ts';
import { propertiesOf, readableStage } from '../../support/readable-template.ts';

const staging = readableStage('staging');

/** Where operations live. */
const paths = [...new Set(Object.values(operations).map(({ path }) => path))];

const resources = new Map(
  propertiesOf(staging, 'AWS::ApiGateway::Resource', v.looseObject({ ParentId: v.string(), PathPart: v.string() })).map(
    ([name, { ParentId, PathPart }]) => [`<${name}>`, { ParentId, PathPart }],
  ),
);

function pathOf(id: string): string {
  const resource = resources.get(id);
  return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : '';
}

const methodSchema = v.looseObject({
  HttpMethod: v.string(),
  ResourceId: v.string(),
  Integration: v.looseObject({ Uri: v.optional(v.string()) }),
});
const allMethods = propertiesOf(staging, 'AWS::ApiGateway::Method', methodSchema).map(([, properties]) => {
  const path = pathOf(properties.ResourceId) || '/';
  return { route: `${properties.HttpMethod} ${path}`, path, properties };
});
const preflights = allMethods.filter(({ route }) => route.startsWith('OPTIONS '));
const methods = allMethods.filter((method) => !preflights.includes(method));

const LAMBDA = 'arn:<AWS::Partition>:apigateway:<AWS::Region>:lambda:path';
const buffered = (name: string) => `${LAMBDA}/2015-03-31/functions/<Functions${name}Aliaslive>/invocations`;
const streamed = (name: string) =>
  `${LAMBDA}/2021-11-15/functions/<Functions${name}Aliaslive>/response-streaming-invocations`;

test('The authorizer is asked about every request: nothing is cached, and it has no identity source', () => {
  const authorizers = propertiesOf(staging, 'AWS::ApiGateway::Authorizer', v.looseObject({}));

  expect(authorizers).toMatchObject([['ApiAuthorizer', { Type: 'REQUEST', AuthorizerResultTtlInSeconds: 0 }]]);
  expect(authorizers[0]?.[1]).not.toHaveProperty('IdentitySource');
});

describe('the methods', () => {
  test('call the function of each operation, and the fallback for any other method and path', () => {
    expect(Object.fromEntries(methods.map(({ route, properties }) => [route, properties.Integration.Uri]))).toEqual({
      'GET /inventory': streamed('ListInventory'),
      'HEAD /inventory': streamed('ListInventory'),
      'PATCH /inventory/{petId}': buffered('UpdateInventory'),
      'GET /pets/{petId}': buffered('GetPet'),
      'HEAD /pets/{petId}': buffered('GetPet'),
      'GET /store/orders': streamed('ListOrders'),
      'HEAD /store/orders': streamed('ListOrders'),
      ...Object.fromEntries(['/', ...paths, '/{path+}'].map((path) => [`ANY ${path}`, buffered('Fallback')])),
    });
  });

  test.each(methods)('$route asks the authorizer and needs a key on a usage plan', ({ properties }) => {
    expect(properties).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: '<ApiAuthorizer>',
      ApiKeyRequired: true,
      Integration: { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' },
    });
  });

  test('may be called as preflights on the paths of operations alone: a browser asks before it sends a key', () => {
    expect(preflights.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
  });

  test.each(preflights)('$route is answered by the gateway itself, with the methods of its path', (preflight) => {
    const allowed = methodsOf(preflight.path).join(', ');
    const ResponseParameters = {
      'method.response.header.Access-Control-Allow-Methods': `'${allowed}'`,
      'method.response.header.Allow': `'${allowed}, OPTIONS'`,
      'method.response.header.Access-Control-Allow-Headers':
        "'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key'",
    };

    expect(preflight.properties).toMatchObject({
      AuthorizationType: 'NONE',
      ApiKeyRequired: false,
      Integration: { Type: 'MOCK', IntegrationResponses: [{ ResponseParameters }] },
    });
  });
});

describe('a function', () => {
  const permissionSchema = v.object({
    Action: v.literal('lambda:InvokeFunction'),
    Principal: v.literal('apigateway.amazonaws.com'),
    FunctionName: v.string(),
    SourceArn: v.string(),
  });

  test('may be called where a request needs it, by this API only and not by its test console', () => {
    const permissions = propertiesOf(staging, 'AWS::Lambda::Permission', permissionSchema);
    const ofRequests = ['Authorizer', 'Fallback', 'GetPet', 'ListInventory', 'ListOrders', 'UpdateInventory'];

    expect(new Set(permissions.map(([, { FunctionName }]) => FunctionName))).toEqual(
      new Set(ofRequests.map((name) => `<Functions${name}Aliaslive>`)),
    );
    for (const [, { SourceArn }] of permissions) {
      expect(SourceArn).toMatch(/:execute-api:<AWS::Region>:<AWS::AccountId>:<ApiRestApi>\/(?!test-invoke-stage)/);
    }
  });

  test('gives up before the gateway does, so that the answer is its own', () => {
    const functions = propertiesOf(staging, 'AWS::Lambda::Function', v.looseObject({ Timeout: v.number() }));
    const timeouts = functions.filter(([name]) => /^Functions(?!List)/.test(name)).map(([, { Timeout }]) => Timeout);

    expect(timeouts).toHaveLength(4);
    expect(Math.max(...timeouts)).toBeLessThan(29);
  });
});

test('The sync follows each call that CloudTrail sees change a key, a usage plan or a tag', () => {
  const changing = Object.keys(apiGateway).flatMap((exported) => {
    const [, call = ''] = /^(?!Get)(.*(?:ApiKeys?|UsagePlan(?:Key)?|agResource))Command$/.exec(exported) ?? [];
    return call === '' ? [] : [call];
  });
  const schema = v.object({ EventPattern: v.object({ detail: v.object({ eventName: v.array(v.string()) }) }) });
  const rule = propertiesOf(staging, 'AWS::Events::Rule', v.unknown()).find(([name]) => name === 'KeySyncChanges');

  expect(changing).toHaveLength(11);
  expect(v.parse(schema, rule?.[1]).EventPattern.detail.eventName.toSorted()).toEqual(changing.toSorted());
});
