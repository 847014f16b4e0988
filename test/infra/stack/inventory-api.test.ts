import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { methodsOf, operations } from '../../../shared/contract/operations.ts';
import { apiMethods, ref, resourcesOf, synthesizedStages, text, withoutHash } from '../../support/synthesized.ts';

const { staging } = synthesizedStages();

/** Where operations live. */
const paths = [...new Set(Object.values(operations).map(({ path }) => path))];
const [restApi] = resourcesOf(staging, 'AWS::ApiGateway::RestApi', v.looseObject({}));
const authorizers = resourcesOf(staging, 'AWS::ApiGateway::Authorizer', v.looseObject({}));

/** `arn:…:lambda:path/…/functions/<its alias>/…`, without the hash in the name of the alias. */
const uri = v.pipe(
  text,
  v.transform((value) => value.replaceAll(/[0-9A-F]{8}(?=>)/g, '')),
);
const LAMBDA = 'arn:<AWS::Partition>:apigateway:<AWS::Region>:lambda:path';
const buffered = (functionName: string) => `${LAMBDA}/2015-03-31/functions/<${functionName}Aliaslive>/invocations`;
const streamed = (functionName: string) =>
  `${LAMBDA}/2021-11-15/functions/<${functionName}Aliaslive>/response-streaming-invocations`;

const isPreflight = ({ route }: { readonly route: string }): boolean => route.startsWith('OPTIONS ');
const methods = apiMethods(staging).filter((method) => !isPreflight(method));
const preflights = apiMethods(staging).filter(isPreflight);

describe('the authorizer', () => {
  test('is asked about every request, also one without a key: nothing is cached, and it has no identity source', () => {
    expect(authorizers).toHaveLength(1);
    expect(authorizers[0]?.properties).toMatchObject({ Type: 'REQUEST', AuthorizerResultTtlInSeconds: 0 });
    expect(authorizers[0]?.properties).not.toHaveProperty('IdentitySource');
  });
});

describe('the methods', () => {
  test('call the function of each operation, and the fallback for any other method and path', () => {
    const called = methods.map(({ route, properties }) => [route, v.parse(uri, properties.Integration.Uri)]);

    expect(Object.fromEntries(called)).toEqual({
      'GET /inventory': streamed('FunctionsListInventory'),
      'HEAD /inventory': streamed('FunctionsListInventory'),
      'PATCH /inventory/{petId}': buffered('FunctionsUpdateInventory'),
      'GET /pets/{petId}': buffered('FunctionsGetPet'),
      'HEAD /pets/{petId}': buffered('FunctionsGetPet'),
      'GET /store/orders': streamed('FunctionsListOrders'),
      'HEAD /store/orders': streamed('FunctionsListOrders'),
      ...Object.fromEntries(['/', ...paths, '/{path+}'].map((path) => [`ANY ${path}`, buffered('FunctionsFallback')])),
    });
  });

  test.each(methods)('$route asks the authorizer and needs a key on a usage plan', ({ properties }) => {
    expect(properties).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: { Ref: authorizers[0]?.id },
      ApiKeyRequired: true,
      Integration: { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' },
    });
  });
});

describe('a preflight', () => {
  test('is answered on exactly the paths of operations: a browser asks before it sends a key', () => {
    expect(preflights.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
  });

  test.each(preflights)('$route is answered by the gateway itself, with the methods of its path', (preflight) => {
    const allowed = methodsOf(preflight.path).join(', ');
    const answer = v.object({ IntegrationResponses: v.tuple([v.object({ ResponseParameters: v.unknown() })]) });
    const [{ ResponseParameters }] = v.parse(answer, preflight.properties.Integration).IntegrationResponses;

    expect(preflight.properties).toMatchObject({ AuthorizationType: 'NONE', ApiKeyRequired: false });
    expect(preflight.properties.Integration).toMatchObject({ Type: 'MOCK' });
    expect(ResponseParameters).toMatchObject({
      'method.response.header.Access-Control-Allow-Methods': `'${allowed}'`,
      'method.response.header.Allow': `'${allowed}, OPTIONS'`,
      'method.response.header.Access-Control-Allow-Headers':
        "'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key'",
    });
  });
});

describe('a function', () => {
  const permissionSchema = v.object({
    Action: v.literal('lambda:InvokeFunction'),
    Principal: v.literal('apigateway.amazonaws.com'),
    FunctionName: ref,
    SourceArn: text,
  });
  const permissions = resourcesOf(staging, 'AWS::Lambda::Permission', permissionSchema);

  test('may be called by the API where a request needs it: the sync of keys may not', () => {
    const names = new Set(permissions.map(({ properties }) => withoutHash(properties.FunctionName)));
    const ofRequests = ['Authorizer', 'Fallback', 'GetPet', 'ListInventory', 'ListOrders', 'UpdateInventory'];

    expect([...names].toSorted()).toEqual(ofRequests.map((name) => `Functions${name}Aliaslive`));
  });

  test.each(permissions)('may be called by this API only, and not by its test console: $id', ({ properties }) => {
    expect(properties.SourceArn).toContain(`:execute-api:<AWS::Region>:<AWS::AccountId>:<${restApi?.id}>/`);
    expect(properties.SourceArn).not.toContain('test-invoke-stage');
  });

  test('gives up before the gateway does, so that the answer is its own', () => {
    const schema = v.object({ Timeout: v.number() });
    const timeouts = resourcesOf(staging, 'AWS::Lambda::Function', schema).filter(({ id }) =>
      /^Functions(?!List)/.test(id),
    );

    expect(timeouts).toHaveLength(4);
    for (const { properties } of timeouts) expect(properties.Timeout).toBeLessThan(29);
  });
});
