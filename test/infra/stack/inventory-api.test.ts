import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { operations } from '../../../shared/contract/operations.ts';
import { attribute, ref, resourcesOf, synthesizeStages, withoutHash } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { staging, production } = synthesizeStages(temporaryFolder());

const everything = v.looseObject({});
const [restApi] = resourcesOf(staging, 'AWS::ApiGateway::RestApi', everything);
const authorizers = resourcesOf(staging, 'AWS::ApiGateway::Authorizer', everything);
const [stage] = resourcesOf(staging, 'AWS::ApiGateway::Stage', everything);

const apiResources = new Map(
  resourcesOf(
    staging,
    'AWS::ApiGateway::Resource',
    v.object({ ParentId: v.union([ref, attribute]), PathPart: v.string() }),
  ).map(({ id, properties }) => [id, properties]),
);

function pathOf(resource: string): string {
  const found = apiResources.get(resource);
  if (!found) return resource === `${restApi?.id}.RootResourceId` ? '' : `no resource ${resource}`;
  return `${pathOf(found.ParentId)}/${found.PathPart}`;
}

/** The function in `arn:…:lambda:path/2015-03-31/functions/<its ARN>/invocations`. */
const functionUri = v.pipe(
  v.object({ 'Fn::Join': v.tuple([v.literal(''), v.array(v.union([attribute, v.unknown()]))]) }),
  v.transform((uri) => {
    const [, parts] = uri['Fn::Join'];
    const invoked = parts[parts.length - 2];
    return parts.at(-1) === '/invocations' ? withoutHash(String(invoked)) : 'no function';
  }),
);

const methods = resourcesOf(
  staging,
  'AWS::ApiGateway::Method',
  v.object({
    HttpMethod: v.string(),
    ResourceId: v.union([ref, attribute]),
    AuthorizationType: v.string(),
    AuthorizerId: v.optional(ref),
    ApiKeyRequired: v.optional(v.boolean()),
    Integration: v.looseObject({ Uri: functionUri }),
  }),
).map(({ properties }) => ({
  route: `${properties.HttpMethod} ${pathOf(properties.ResourceId) || '/'}`,
  properties,
}));

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
    const uri = v.parse(v.object({ AuthorizerUri: functionUri }), authorizers[0]?.properties).AuthorizerUri;

    expect(uri).toBe('FunctionsAuthorizer.Arn');
  });
});

describe('the methods', () => {
  test('are the operations of the interface, and any other method on every path there is', () => {
    const ofOperations = Object.values(operations).map(({ method, path }) => `${method} ${path}`);
    const ofAnythingElse = ['/', ...[...apiResources.keys()].map(pathOf)].map((path) => `ANY ${path}`);

    expect(methods.map(({ route }) => route).toSorted()).toEqual([...ofOperations, ...ofAnythingElse].toSorted());
  });

  test('take every path that is not there', () => {
    expect([...apiResources.keys()].map(pathOf)).toContain('/{path+}');
  });

  test.each(methods)('$route asks the authorizer and needs a key on a usage plan', ({ properties }) => {
    expect(properties).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: authorizers[0]?.id,
      ApiKeyRequired: true,
    });
  });

  test.each(methods)('$route hands the request over as it is, for at most 29 seconds', ({ properties }) => {
    expect(properties.Integration).toMatchObject({
      Type: 'AWS_PROXY',
      IntegrationHttpMethod: 'POST',
      TimeoutInMillis: 29_000,
    });
  });

  test.each([
    ['GET /inventory', 'FunctionsListInventory.Arn'],
    ['PATCH /inventory/{petId}', 'FunctionsUpdateInventory.Arn'],
    ['ANY /', 'FunctionsFallback.Arn'],
    ['ANY /inventory', 'FunctionsFallback.Arn'],
    ['ANY /inventory/{petId}', 'FunctionsFallback.Arn'],
    ['ANY /{path+}', 'FunctionsFallback.Arn'],
  ])('%s is answered by %s', (route, functionArn) => {
    expect(methods.find((method) => method.route === route)?.properties.Integration.Uri).toBe(functionArn);
  });
});

describe('the permissions to invoke a function', () => {
  const permissions = resourcesOf(
    staging,
    'AWS::Lambda::Permission',
    v.object({ Action: v.string(), Principal: v.string(), FunctionName: attribute, SourceArn: v.unknown() }),
  );

  test('go to every function of the API, and to no other', () => {
    const invocable = new Set(permissions.map(({ properties }) => withoutHash(properties.FunctionName)));

    expect([...invocable].toSorted()).toEqual([
      'FunctionsAuthorizer.Arn',
      'FunctionsFallback.Arn',
      'FunctionsListInventory.Arn',
      'FunctionsUpdateInventory.Arn',
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
      keyId: '$context.authorizer.principalId',
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
