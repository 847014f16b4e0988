import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { operations } from '../../../shared/contract/operations.ts';
import { type ApiMethod, apiMethods, resourcePaths } from '../../support/api-methods.ts';
import { ref, resourcesOf, synthesizedStages, text, withoutHash } from '../../support/synthesized.ts';

const { staging, production } = synthesizedStages();

/** Where operations live. */
const paths = [...new Set(Object.values(operations).map(({ path }) => path))];

const everything = v.looseObject({});
const [restApi] = resourcesOf(staging, 'AWS::ApiGateway::RestApi', everything);
const authorizers = resourcesOf(staging, 'AWS::ApiGateway::Authorizer', everything);
const [stage] = resourcesOf(staging, 'AWS::ApiGateway::Stage', everything);

/** `arn:…:lambda:path/…/functions/<its ARN>/…`, without the hash in the name of the function. */
const uri = v.pipe(
  text,
  v.transform((value) => value.replaceAll(/[0-9A-F]{8}(?=>)/g, '')),
);
const LAMBDA = 'arn:<AWS::Partition>:apigateway:<AWS::Region>:lambda:path';
const buffered = (functionName: string) => `${LAMBDA}/2015-03-31/functions/<${functionName}Aliaslive>/invocations`;
const streamed = (functionName: string) =>
  `${LAMBDA}/2021-11-15/functions/<${functionName}Aliaslive>/response-streaming-invocations`;

/** All methods but those that answer preflights. */
const methods = apiMethods(staging).filter(({ properties }) => properties.HttpMethod !== 'OPTIONS');
const isStreamed = ({ properties }: ApiMethod) => properties.Integration.ResponseTransferMode === 'STREAM';
const allPaths = [...resourcePaths(staging).values()];

describe('the REST API', () => {
  test('takes the API key of a request from the authorizer', () => {
    expect(restApi?.properties).toMatchObject({ ApiKeySourceType: 'AUTHORIZER' });
  });

  test('is one, and regional', () => {
    expect(resourcesOf(staging, 'AWS::ApiGateway::RestApi', everything)).toHaveLength(1);
    expect(restApi?.properties).toMatchObject({ EndpointConfiguration: { Types: ['REGIONAL'] } });
  });

  test.each([
    ['staging', staging],
    ['production', production],
  ])('says that it is %s', (name, synthesized) => {
    const [api] = resourcesOf(synthesized, 'AWS::ApiGateway::RestApi', everything);

    expect(api?.properties).toMatchObject({ Name: `Pet store inventory (${name})` });
  });
});

describe('the authorizer', () => {
  test('is one for the whole API, asked about the whole request', () => {
    expect(authorizers).toHaveLength(1);
    expect(authorizers[0]?.properties).toMatchObject({ Type: 'REQUEST', RestApiId: { Ref: restApi?.id } });
  });

  test('is asked about every request: nothing is cached', () => {
    expect(authorizers[0]?.properties).toHaveProperty('AuthorizerResultTtlInSeconds', 0);
  });

  test('is asked about a request without a key too: it has no identity source', () => {
    expect(authorizers[0]?.properties).not.toHaveProperty('IdentitySource');
  });

  test('is the authorizer function', () => {
    expect(JSON.stringify(authorizers[0]?.properties.AuthorizerUri)).toMatch(
      /:lambda:path\/2015-03-31\/functions\/",\{"Ref":"FunctionsAuthorizerAliaslive[0-9A-F]{8}"\},"\/invocations"\]\]\}$/,
    );
  });
});

describe('the methods', () => {
  test('are the operations of the interface, and any other method on every path there is', () => {
    const ofOperations = Object.values(operations).map(({ method, path }) => `${method} ${path}`);
    const ofAnythingElse = ['/', ...paths, '/{path+}'].map((path) => `ANY ${path}`);

    expect(methods.map(({ route }) => route).toSorted()).toEqual([...ofOperations, ...ofAnythingElse].toSorted());
  });

  test('are on no other path, but for those that only lead to them', () => {
    const parents = ['/pets', '/store'];

    expect(allPaths.toSorted()).toEqual([...paths, ...parents, '/{path+}'].toSorted());
  });

  test('take every path that is not there', () => {
    expect(allPaths).toContain('/{path+}');
  });

  test.each(methods)('$route asks the authorizer and needs a key on a usage plan', ({ properties }) => {
    expect(properties).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: { Ref: authorizers[0]?.id },
      ApiKeyRequired: true,
    });
  });

  test.each(methods)('$route hands the request over as it is', ({ properties }) => {
    expect(properties.Integration).toMatchObject({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' });
  });

  test.each(methods.filter((method) => !isStreamed(method)))('$route waits for 29 seconds', ({ properties }) => {
    expect(properties.Integration).not.toHaveProperty('ResponseTransferMode');
    expect(properties.Integration).toMatchObject({ TimeoutInMillis: 29_000 });
  });

  test('stream their answers where these are lists, for five minutes', () => {
    const found = methods.filter(isStreamed);

    expect(found.map(({ route }) => route).toSorted()).toEqual(['GET /inventory', 'GET /store/orders']);
    for (const { properties } of found) expect(properties.Integration).toMatchObject({ TimeoutInMillis: 300_000 });
  });

  test.each([
    ['GET /inventory', streamed('FunctionsListInventory')],
    ['PATCH /inventory/{petId}', buffered('FunctionsUpdateInventory')],
    ['GET /pets/{petId}', buffered('FunctionsGetPet')],
    ['GET /store/orders', streamed('FunctionsListOrders')],
    ...['/', ...paths, '/{path+}'].map((path): [string, string] => [`ANY ${path}`, buffered('FunctionsFallback')]),
  ])('%s calls %s', (route, called) => {
    const integration = methods.find((method) => method.route === route)?.properties.Integration;

    expect(v.parse(uri, integration?.Uri)).toBe(called);
  });
});

describe('the permissions to invoke a function', () => {
  const permissions = resourcesOf(
    staging,
    'AWS::Lambda::Permission',
    v.object({ Action: v.string(), Principal: v.string(), FunctionName: ref, SourceArn: v.unknown() }),
  );

  test('go to every function of the API, and to no other', () => {
    const invocable = new Set(permissions.map(({ properties }) => withoutHash(properties.FunctionName)));

    expect([...invocable].toSorted()).toEqual([
      'FunctionsAuthorizerAliaslive',
      'FunctionsFallbackAliaslive',
      'FunctionsGetPetAliaslive',
      'FunctionsListInventoryAliaslive',
      'FunctionsListOrdersAliaslive',
      'FunctionsUpdateInventoryAliaslive',
    ]);
  });

  test.each(permissions)('go to this API only, and not to its test console: $id', ({ properties }) => {
    expect(properties).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' });
    expect(JSON.stringify(properties.SourceArn)).toContain(`:execute-api:`);
    expect(JSON.stringify(properties.SourceArn)).toContain(`{"Ref":"${restApi?.id}"}`);
    expect(JSON.stringify(properties.SourceArn)).not.toContain('test-invoke-stage');
  });
});

describe('the stage', () => {
  test('is the version segment of the base address (spec §1)', () => {
    expect(stage?.properties).toMatchObject({ StageName: 'v1' });
  });

  test('logs errors and counts requests, but never logs what is in them', () => {
    expect(stage?.properties).toMatchObject({
      MethodSettings: [
        { ResourcePath: '/*', HttpMethod: '*', LoggingLevel: 'ERROR', MetricsEnabled: true, DataTraceEnabled: false },
      ],
    });
  });

  test('logs a line of JSON a request, with neither its path nor its key', () => {
    const { Format } = v.parse(v.object({ Format: v.string() }), stage?.properties.AccessLogSetting);

    expect(JSON.parse(Format)).toEqual({
      requestId: '$context.requestId',
      time: '$context.requestTime',
      ip: '$context.identity.sourceIp',
      method: '$context.httpMethod',
      resource: '$context.resourcePath',
      status: '$context.status',
      bytes: '$context.responseLength',
      milliseconds: '$context.responseLatency',
      integrationMilliseconds: '$context.integrationLatency',
      keyId: '$context.authorizer.principalId',
      plan: '$context.authorizer.plan',
      outcome: '$context.authorizer.outcome',
      gatewayError: '$context.error.responseType',
    });
  });

  test('keeps that log for a month', () => {
    const logGroups = resourcesOf(staging, 'AWS::Logs::LogGroup', v.object({ RetentionInDays: v.number() }));
    const accessLogs = logGroups.find(({ id }) => withoutHash(id) === 'ApiAccessLogs');

    expect(JSON.stringify(stage?.properties.AccessLogSetting)).toContain(`:log-group:",{"Ref":"${accessLogs?.id}"}`);
    expect(accessLogs?.properties.RetentionInDays).toBe(30);
  });
});
