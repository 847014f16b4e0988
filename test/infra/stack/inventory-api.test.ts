import * as apiGateway from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, stages } from '../../../infra/stages.ts';
import { methodsFor, methodsOf, operations } from '../../../shared/contract/operations.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { isIssued, parseToken } from '../../../shared/keys/token.ts';
import {
  capitalised,
  inventoryTemplate,
  propertiesOf,
  readableStage,
  resourceOf,
} from '../../support/service-template.ts';

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
    const ofOperations = Object.entries(operations).flatMap(([id, { method, path }]) => {
      const target = id.startsWith('list') ? streamed(capitalised(id)) : buffered(capitalised(id));
      return methodsFor(method).map((each) => [`${each} ${path}`, target]);
    });

    expect(Object.fromEntries(methods.map(({ route, properties }) => [route, properties.Integration.Uri]))).toEqual({
      ...Object.fromEntries(ofOperations),
      ...Object.fromEntries(['/', ...paths, '/{path+}'].map((path) => [`ANY ${path}`, buffered('Fallback')])),
    });
  });

  test('ask the authorizer and need a key on a usage plan, all of them', () => {
    for (const { properties } of methods) {
      expect(properties).toMatchObject({
        AuthorizationType: 'CUSTOM',
        AuthorizerId: '<ApiAuthorizer>',
        ApiKeyRequired: true,
      });
    }
  });

  test('are preflights on the paths of operations alone, which the gateway answers with the methods of the path', () => {
    expect(preflights.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
    for (const { path, properties } of preflights) {
      const ResponseParameters = {
        'method.response.header.Access-Control-Allow-Methods': `'${methodsOf(path).join(', ')}'`,
        'method.response.header.Access-Control-Allow-Headers':
          "'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key'",
      };
      expect(properties).toMatchObject({
        AuthorizationType: 'NONE',
        ApiKeyRequired: false,
        Integration: { Type: 'MOCK', IntegrationResponses: [{ ResponseParameters }] },
      });
    }
  });
});

test('A function may be called where a request needs it, by this API only and not by its test console', () => {
  const permissionSchema = v.object({
    Action: v.literal('lambda:InvokeFunction'),
    Principal: v.literal('apigateway.amazonaws.com'),
    FunctionName: v.string(),
    SourceArn: v.string(),
  });
  const permissions = propertiesOf(staging, 'AWS::Lambda::Permission', permissionSchema);
  const ofRequests = ['authorizer', 'fallback', ...Object.keys(operations)].map(capitalised);

  expect(new Set(permissions.map(([, { FunctionName }]) => FunctionName))).toEqual(
    new Set(ofRequests.map((name) => `<Functions${name}Aliaslive>`)),
  );
  for (const [, { SourceArn }] of permissions) {
    expect(SourceArn).toMatch(/:execute-api:<AWS::Region>:<AWS::AccountId>:<ApiRestApi>\/(?!test-invoke-stage)/);
  }
});

test('A function gives up before the gateway does, so that the answer is its own', () => {
  const functions = propertiesOf(staging, 'AWS::Lambda::Function', v.looseObject({ Timeout: v.number() }));
  const timeouts = functions.filter(([name]) => /^Functions(?!List)/.test(name)).map(([, { Timeout }]) => Timeout);

  // All but the two lists; the authorizer and the fallback beside the operations.
  expect(timeouts).toHaveLength(Object.keys(operations).length);
  expect(Math.max(...timeouts)).toBeLessThan(29);
});

test('The sync follows each call that CloudTrail sees change a key, a usage plan or a tag', () => {
  const changing = Object.keys(apiGateway).flatMap((exported) => {
    const [, call = ''] = /^(?!Get)(.*(?:ApiKeys?|UsagePlan(?:Key)?|agResource))Command$/.exec(exported) ?? [];
    return call === '' ? [] : [call];
  });
  const schema = v.object({ EventPattern: v.object({ detail: v.object({ eventName: v.array(v.string()) }) }) });
  const rule = propertiesOf(staging, 'AWS::Events::Rule', v.unknown()).find(([name]) => name === 'KeySyncChanges');

  expect(v.parse(schema, rule?.[1]).EventPattern.detail.eventName.toSorted()).toEqual(changing.toSorted());
});

/** The values of the keys that a stage has itself, and those that its authorizer names. */
function internalKeysOf(stage: (typeof stageNames)[number]) {
  const template = inventoryTemplate(stage);
  const keys = Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::ApiGateway::ApiKey');
  const [, authorizer] = resourceOf(template, 'AWS::Lambda::Function', 'FunctionsAuthorizer');
  const variables = v.object({ OVERFLOW_USAGE_IDENTIFIER: v.string(), INTERIM_USAGE_IDENTIFIER: v.string() });
  const environment = v.object({ Environment: v.object({ Variables: variables }) });
  return {
    values: keys.map(({ Properties }) => String(Properties['Value'])),
    named: Object.values(v.parse(environment, authorizer.Properties).Environment.Variables),
  };
}

describe.each(stageNames)('the usage plans of %s', (stage) => {
  test('never refuse what the exact limits admit (spec §8), nor the exact answers to what they refuse', () => {
    const plans = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlan', v.looseObject({})).map(
      ([name, { Throttle, Quota }]) => [name.replace('UsagePlans', ''), { Throttle, Quota }],
    );

    expect(plans).toHaveLength(planIds.length + 2);
    const { Free, Pro, Business, Enterprise, Overflow, Interim } = Object.fromEntries(plans);
    const asWideAsStage = { Throttle: { RateLimit: stages[stage].throttle.requestsPerSecond, BurstLimit: 5_000 } };
    expect({ Free, Pro, Business, Enterprise, Overflow, Interim }).toEqual({
      Free: { Throttle: { RateLimit: 1, BurstLimit: 120 }, Quota: { Limit: 1_060, Period: 'DAY' } },
      Pro: { Throttle: { RateLimit: 5, BurstLimit: 600 }, Quota: { Limit: 10_300, Period: 'DAY' } },
      Business: { Throttle: { RateLimit: 17, BurstLimit: 2_000 }, Quota: { Limit: 101_000, Period: 'DAY' } },
      // Each of its keys has limits of its own: no quota, and what the stage takes from all clients at once.
      Enterprise: asWideAsStage,
      Overflow: asWideAsStage,
      Interim: {},
    });
  });

  test('give each key its share of bulks, and refused ones theirs together', () => {
    const plan = v.object({ ApiStages: v.array(v.object({ Throttle: v.unknown() })) });
    const plans = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlan', plan);

    for (const [name, { ApiStages }] of plans) {
      const ofAll = name.includes('Overflow') ? { RateLimit: 100, BurstLimit: 10 } : { RateLimit: 5, BurstLimit: 5 };
      expect(ApiStages).toEqual([{ Throttle: { '/inventory/PATCH': ofAll } }]);
    }
  });

  test('have no keys but one of each internal plan, which the authorizer names, and which opens nothing', () => {
    const { values, named } = internalKeysOf(stage);
    const planKeys = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlanKey', v.unknown());

    expect(values).toEqual(named);
    expect(planKeys.map(([, properties]) => properties)).toMatchObject(
      ['Overflow', 'Interim'].map((plan) => ({ KeyId: `<UsagePlans${plan}Key>`, UsagePlanId: `<UsagePlans${plan}>` })),
    );
    for (const value of values) {
      expect(value).toMatch(/^[0-9a-f]{64}$/);
      expect({ isRecordId: isIssued(value), token: parseToken(value) }).toEqual({ isRecordId: false });
    }
  });
});

test('No internal key is that of another plan or another stage', () => {
  expect(new Set(stageNames.flatMap((stage) => internalKeysOf(stage).values)).size).toBe(4);
});
