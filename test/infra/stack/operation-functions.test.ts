import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, stages } from '../../../infra/stages.ts';
import {
  attribute,
  rawResourcesOf,
  ref,
  resourcesOf,
  synthesizedStages,
  text,
  withoutHash,
} from '../../support/synthesized.ts';

const { staging, production } = synthesizedStages();

const name = v.pipe(ref, v.transform(withoutHash));
const attributeOf = v.pipe(attribute, v.transform(withoutHash));
const variable = v.union([name, text]);

const functions = resourcesOf(
  staging,
  'AWS::Lambda::Function',
  v.looseObject({
    LoggingConfig: v.strictObject({ LogGroup: name }),
    Environment: v.optional(v.object({ Variables: v.record(v.string(), variable) })),
    Timeout: v.number(),
  }),
).map(({ id, properties }) => ({ name: withoutHash(id), properties }));

/** Those that a client waits for. */
const ofRequests = functions.filter((one) => one.name !== 'KeySyncFunction');
/** Those whose answer comes bit by bit. */
const streaming = ['FunctionsListInventory', 'FunctionsListOrders'];

const functionNamed = (wanted: string) => functions.find((candidate) => candidate.name === wanted)?.properties;

/** Who may read the answers in a browser: what the stack of the reference page exports. */
const page = { PAGE_ORIGIN: '<staging-ReferencePageOrigin>' };
/** What its metrics are told by. */
const metrics = { METRICS_NAMESPACE: 'PetStoreInventory', STACK_NAME: 'staging-Inventory' };
/** What is streamed is collected early. */
const flatMemory = { NODE_OPTIONS: '--max-old-space-size=128 --max-semi-space-size=4' };

describe('the functions', () => {
  test('are the authorizer, one per operation, the fallback, and the sync of keys', () => {
    expect(functions.map((one) => one.name).toSorted()).toEqual([
      'FunctionsAuthorizer',
      'FunctionsFallback',
      'FunctionsGetPet',
      'FunctionsListInventory',
      'FunctionsListOrders',
      'FunctionsUpdateInventory',
      'KeySyncFunction',
    ]);
  });

  test('are the same on production', () => {
    const onProduction = resourcesOf(production, 'AWS::Lambda::Function', v.looseObject({ Code: v.unknown() }));
    const codes = resourcesOf(staging, 'AWS::Lambda::Function', v.looseObject({ Code: v.unknown() }));

    expect(onProduction.map(({ properties }) => properties.Code)).toEqual(
      codes.map(({ properties }) => properties.Code),
    );
  });

  test.each(functions)('$name runs on Node 24 on arm64', ({ properties }) => {
    expect(properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
  });

  test.each(ofRequests.filter((one) => !streaming.includes(one.name)))(
    '$name gives up before the gateway does, so that the answer is its own',
    ({ properties }) => {
      expect(properties.Timeout).toBeLessThan(29);
    },
  );

  test.each(streaming)('%s has five minutes, as a slow reader of a long list may take them', (one) => {
    expect(functionNamed(one)?.Timeout).toBe(300);
  });

  test.each(functions)('$name says what it is for', ({ properties }) => {
    expect(properties.Description).toMatch(/\w+ \w+/);
  });

  test.each(functions)('$name writes to a log group of its own', (one) => {
    expect(one.properties.LoggingConfig.LogGroup).toBe(`${one.name}Logs`);
  });

  test.each(functions)('$name is traced', ({ properties }) => {
    expect(properties).toMatchObject({ TracingConfig: { Mode: 'Active' } });
  });

  test.each([
    [
      'FunctionsAuthorizer',
      {
        KEYS_TABLE: 'TablesKeys',
        OVERFLOW_USAGE_IDENTIFIER: expect.stringMatching(/^[0-9a-f]{64}$/),
        INTERIM_USAGE_IDENTIFIER: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ],
    ['FunctionsListInventory', { STOCK_TABLE: 'TablesStock', ...page, ...flatMemory }],
    ['FunctionsUpdateInventory', { STOCK_TABLE: 'TablesStock', REQUESTS_TABLE: 'TablesRequests', ...page }],
    [
      'FunctionsGetPet',
      {
        PETS_TABLE: 'TablesPets',
        STOCK_TABLE: 'TablesStock',
        DEPRECATED_AT: stages.staging.petDeprecation.deprecatedAt,
        SUNSET_AT: stages.staging.petDeprecation.sunsetAt,
        ...page,
      },
    ],
    ['FunctionsListOrders', { ORDERS_TABLE: 'TablesOrders', ...page, ...flatMemory }],
    ['FunctionsFallback', page],
    [
      'KeySyncFunction',
      {
        KEYS_TABLE: 'TablesKeys',
        API_ID: 'ApiRestApi',
        API_STAGE: 'ApiRestApiDeploymentStagev1',
      },
    ],
  ])('%s is told exactly %j, and what its metrics are told by', (one, variables) => {
    expect(functionNamed(one)?.Environment?.Variables).toEqual({ ...variables, ...metrics });
  });
});

describe('the deprecation of GET /pets/{petId}', () => {
  test.each(stageNames)('on %s gives clients a year from the day it was announced', (stage) => {
    const { deprecatedAt, sunsetAt } = stages[stage].petDeprecation;
    const aYearLater = new Date(deprecatedAt);
    aYearLater.setUTCFullYear(aYearLater.getUTCFullYear() + 1);

    expect(new Date(deprecatedAt).toISOString()).toBe(deprecatedAt.replace('Z', '.000Z'));
    expect(new Date(sunsetAt).getTime()).toBeGreaterThanOrEqual(aYearLater.getTime());
  });
});

/** The name of the function and of its alias, from the alias's ARN. */
const liveSync = {
  'Fn::Join': [
    '',
    [
      {
        'Fn::Select': [6, { 'Fn::Split': [':', { Ref: expect.stringMatching(/^KeySyncFunctionAliaslive/) }] }],
      },
      ':live',
    ],
  ],
};

describe.each([
  ['staging', staging],
  ['production', production],
])('on %s, a function can be called', (_, stage) => {
  test.each(['AWS::Lambda::Url', 'AWS::Lambda::EventInvokeConfig', 'AWS::Lambda::LayerVersionPermission'])(
    'by no %s',
    (type) => {
      expect(rawResourcesOf(stage, type)).toEqual([]);
    },
  );

  test('by the API, where a request needs it, and by nobody else', () => {
    const permissions = resourcesOf(
      stage,
      'AWS::Lambda::Permission',
      v.strictObject({ Action: v.string(), Principal: v.string(), FunctionName: name, SourceArn: text }),
    ).map(({ properties }) => properties);
    const called = new Set(permissions.map(({ FunctionName }) => FunctionName));
    const thisApi = /^arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<ApiRestApi[0-9A-F]{8}>\//;

    expect([...called].toSorted()).toEqual(ofRequests.map((one) => `${one.name}Aliaslive`).toSorted());
    for (const permission of permissions) {
      expect(permission).toMatchObject({
        Action: 'lambda:InvokeFunction',
        Principal: 'apigateway.amazonaws.com',
        SourceArn: expect.stringMatching(thisApi),
      });
    }
  });

  test('by one queue: that of the sync', () => {
    const mappings = resourcesOf(
      stage,
      'AWS::Lambda::EventSourceMapping',
      v.object({ EventSourceArn: attributeOf, FunctionName: v.unknown() }),
    );

    expect(mappings.map(({ properties }) => properties)).toEqual([
      { EventSourceArn: 'KeySyncQueue.Arn', FunctionName: liveSync },
    ]);
  });
});
