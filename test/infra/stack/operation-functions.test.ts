import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { attribute, ref, resourcesOf, synthesizeStages, withoutHash } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { staging, production } = synthesizeStages(temporaryFolder());

const name = v.pipe(ref, v.transform(withoutHash));
const attributeOf = v.pipe(attribute, v.transform(withoutHash));
const variable = v.union([name, v.string()]);

const functions = resourcesOf(
  staging,
  'AWS::Lambda::Function',
  v.looseObject({
    Role: attributeOf,
    LoggingConfig: v.strictObject({ LogGroup: name }),
    Environment: v.optional(v.object({ Variables: v.record(v.string(), variable) })),
    Timeout: v.number(),
  }),
).map(({ id, properties }) => ({ name: withoutHash(id), properties }));

/** Those that a client waits for. */
const ofRequests = functions.filter((one) => one.name !== 'KeySyncFunction');

const functionNamed = (wanted: string) => functions.find((candidate) => candidate.name === wanted)?.properties;

const oneOrMany = v.union([
  v.array(v.string()),
  v.pipe(
    v.string(),
    v.transform((one) => [one]),
  ),
]);

/** `{ "Fn::Join": […] }` as text such as `arn:<AWS::Partition>:apigateway:<AWS::Region>::/apikeys`. */
const joined = v.pipe(
  v.strictObject({
    'Fn::Join': v.tuple([
      v.literal(''),
      v.array(
        v.union([
          v.string(),
          v.pipe(
            ref,
            v.transform((parameter) => `<${parameter}>`),
          ),
        ]),
      ),
    ]),
  }),
  v.transform((value) => value['Fn::Join'][1].join('')),
);

const oneResource = v.union([attributeOf, joined, v.string()]);

const statement = v.strictObject({
  Effect: v.string(),
  Action: oneOrMany,
  Resource: v.union([
    v.array(oneResource),
    v.pipe(
      oneResource,
      v.transform((one) => [one]),
    ),
  ]),
});

const policies = resourcesOf(
  staging,
  'AWS::IAM::Policy',
  v.object({ Roles: v.array(name), PolicyDocument: v.object({ Statement: v.array(statement) }) }),
).map(({ properties }) => properties);

const roles = resourcesOf(
  staging,
  'AWS::IAM::Role',
  v.looseObject({ AssumeRolePolicyDocument: v.object({ Statement: v.array(v.unknown()) }) }),
);

const GATEWAY = 'arn:<AWS::Partition>:apigateway:<AWS::Region>::';
const ANY_KEY = '/apikeys/*';
const ANY_PLANS_KEYS = '/usageplans/*/keys';

/** Everything that a role may do, as `action on resource`. */
function grantsOf(role: string): string[] {
  return policies
    .filter(({ Roles }) => Roles.includes(role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource }) =>
      Action.flatMap((action) => Resource.map((resource) => `${Effect} ${action} on ${resource}`)),
    )
    .toSorted();
}

describe('the functions', () => {
  test('are the authorizer, one per operation, the fallback, and the sync of keys', () => {
    expect(functions.map((one) => one.name).toSorted()).toEqual([
      'FunctionsAuthorizer',
      'FunctionsFallback',
      'FunctionsListInventory',
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

  test.each(ofRequests)('$name gives up before the gateway does, so that the answer is its own', ({ properties }) => {
    expect(properties.Timeout).toBeLessThan(29);
  });

  test.each(functions)('$name says what it is for', ({ properties }) => {
    expect(properties.Description).toMatch(/\w+ \w+/);
  });

  test.each(functions)('$name writes to a log group of its own, kept for a month', (one) => {
    const logGroups = resourcesOf(staging, 'AWS::Logs::LogGroup', v.object({ RetentionInDays: v.number() }));
    const own = logGroups.find(({ id }) => withoutHash(id) === `${one.name}Logs`);

    expect(one.properties.LoggingConfig.LogGroup).toBe(`${one.name}Logs`);
    expect(own?.properties.RetentionInDays).toBe(30);
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
    ['FunctionsListInventory', { STOCK_TABLE: 'TablesStock' }],
    ['FunctionsUpdateInventory', { STOCK_TABLE: 'TablesStock' }],
    ['FunctionsFallback', undefined],
    [
      'KeySyncFunction',
      {
        KEYS_TABLE: 'TablesKeys',
        API_ID: 'ApiRestApi',
        API_STAGE: 'ApiRestApiDeploymentStagev1',
        METRICS_NAMESPACE: 'PetStoreInventory',
        STACK_NAME: 'staging-Inventory',
      },
    ],
  ])('%s is told exactly %j', (one, variables) => {
    expect(functionNamed(one)?.Environment?.Variables).toEqual(variables);
  });
});

describe('the role', () => {
  test.each([
    ['FunctionsAuthorizer', ['dynamodb:GetItem on TablesKeys.Arn', 'dynamodb:UpdateItem on TablesKeys.Arn']],
    ['FunctionsListInventory', ['dynamodb:Query on TablesStock.Arn']],
    ['FunctionsUpdateInventory', ['dynamodb:UpdateItem on TablesStock.Arn']],
    ['FunctionsFallback', []],
    [
      'KeySyncFunction',
      [
        ...['Scan', 'PutItem', 'UpdateItem', 'DeleteItem'].map((call) => `dynamodb:${call} on TablesKeys.Arn`),
        ...['/apikeys', ANY_KEY, '/usageplans', ANY_PLANS_KEYS].map((path) => `apigateway:GET on ${GATEWAY}${path}`),
        'sqs:ChangeMessageVisibility on KeySyncQueue.Arn',
        'sqs:DeleteMessage on KeySyncQueue.Arn',
        'sqs:GetQueueAttributes on KeySyncQueue.Arn',
        'sqs:GetQueueUrl on KeySyncQueue.Arn',
        'sqs:ReceiveMessage on KeySyncQueue.Arn',
      ],
    ],
  ])('of %s may log, and %j: nothing else', (one, grants) => {
    const logging = ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => `${action} on ${one}Logs.Arn`);

    expect(functionNamed(one)?.Role).toBe(`${one}Role.Arn`);
    expect(grantsOf(`${one}Role`)).toEqual([...grants, ...logging].map((grant) => `Allow ${grant}`).toSorted());
  });

  test.each(functions)('of $name is taken by Lambda only, and has no managed policies', (one) => {
    const role = roles.find(({ id }) => `${withoutHash(id)}.Arn` === one.properties.Role)?.properties;

    expect(role?.AssumeRolePolicyDocument.Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } },
    ]);
    expect(Object.keys(role ?? {})).toEqual(['AssumeRolePolicyDocument']);
  });

  test('of anything has no wildcard, but for the ids of keys and usage plans, which admins make', () => {
    const grants = functions.flatMap((one) => grantsOf(`${one.name}Role`));

    expect(policies.flatMap(({ Roles }) => Roles).toSorted()).toEqual(
      functions.map((one) => `${one.name}Role`).toSorted(),
    );
    expect(grants.filter((grant) => grant.includes('*'))).toEqual([
      `Allow apigateway:GET on ${GATEWAY}${ANY_KEY}`,
      `Allow apigateway:GET on ${GATEWAY}${ANY_PLANS_KEYS}`,
    ]);
  });

  test('of anything changes nothing in API Gateway', () => {
    const grants = functions.flatMap((one) => grantsOf(`${one.name}Role`));
    const onGateway = grants.filter((grant) => grant.includes('apigateway'));

    expect(onGateway).toHaveLength(4);
    for (const grant of onGateway) expect(grant).toMatch(/^Allow apigateway:GET on /);
  });

  test.each(['AWS::IAM::Role', 'AWS::IAM::Policy'])('is the same on production, by every %s', (type) => {
    expect(production.template.findResources(type)).toEqual(staging.template.findResources(type));
  });

  test('is one per function, and one for the gateway to log with', () => {
    expect(roles.map(({ id }) => withoutHash(id)).toSorted()).toEqual(
      ['ApiRestApiCloudWatchRole', ...functions.map((one) => `${one.name}Role`)].toSorted(),
    );
  });
});

describe.each([
  ['staging', staging],
  ['production', production],
])('on %s, a function can be called', (_, stage) => {
  test.each(['AWS::Lambda::Url', 'AWS::Lambda::Alias', 'AWS::Lambda::Version', 'AWS::Lambda::LayerVersionPermission'])(
    'by no %s',
    (type) => {
      expect(stage.template.findResources(type)).toEqual({});
    },
  );

  test('by the API, where a request needs it, and by nobody else', () => {
    const permissions = resourcesOf(
      stage,
      'AWS::Lambda::Permission',
      v.object({ Action: v.string(), Principal: v.string(), FunctionName: attributeOf }),
    ).map(({ properties }) => properties);
    const called = new Set(permissions.map(({ FunctionName }) => FunctionName));

    expect([...called].toSorted()).toEqual(ofRequests.map((one) => `${one.name}.Arn`).toSorted());
    for (const permission of permissions) {
      expect(permission).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' });
    }
  });

  test('by one queue: that of the sync', () => {
    const mappings = resourcesOf(
      stage,
      'AWS::Lambda::EventSourceMapping',
      v.object({ EventSourceArn: attributeOf, FunctionName: name }),
    );

    expect(mappings.map(({ properties }) => properties)).toEqual([
      { EventSourceArn: 'KeySyncQueue.Arn', FunctionName: 'KeySyncFunction' },
    ]);
  });
});
