import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
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

const functions = resourcesOf(staging, 'AWS::Lambda::Function', v.looseObject({ Role: attributeOf })).map(
  ({ id, properties }) => ({ name: withoutHash(id), role: properties.Role }),
);

const oneOrMany = v.union([
  v.array(v.string()),
  v.pipe(
    v.string(),
    v.transform((one) => [one]),
  ),
]);

/** Such as `TablesStock.Arn`, or `arn:<AWS::Partition>:apigateway:<AWS::Region>::/apikeys`. */
const oneResource = v.pipe(text, v.transform(withoutHash));

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

const policySchema = v.object({ Roles: v.array(name), PolicyDocument: v.object({ Statement: v.array(statement) }) });
const policies = resourcesOf(staging, 'AWS::IAM::Policy', policySchema).map(({ properties }) => properties);

const roles = resourcesOf(
  staging,
  'AWS::IAM::Role',
  v.looseObject({ AssumeRolePolicyDocument: v.object({ Statement: v.array(v.unknown()) }) }),
);

const GATEWAY = 'arn:<AWS::Partition>:apigateway:<AWS::Region>::';
const ANY_KEY = '/apikeys/*';
const ANY_PLANS_KEYS = '/usageplans/*/keys';

/** X-Ray knows no resources. */
const TRACING = ['xray:PutTraceSegments on *', 'xray:PutTelemetryRecords on *'];

const onTable = (table: string, ...calls: readonly string[]) =>
  calls.map((call) => `dynamodb:${call} on Tables${table}.Arn`);

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

describe('the role', () => {
  test.each([
    ['FunctionsAuthorizer', onTable('Keys', 'UpdateItem')],
    ['FunctionsListInventory', onTable('Stock', 'Query')],
    ['FunctionsUpdateInventory', [...onTable('Stock', 'GetItem', 'UpdateItem'), ...onTable('Requests', 'PutItem')]],
    ['FunctionsGetPet', [...onTable('Pets', 'GetItem'), ...onTable('Stock', 'GetItem')]],
    ['FunctionsListOrders', onTable('Orders', 'Query')],
    ['FunctionsFallback', []],
    [
      'KeySyncFunction',
      [
        ...onTable('Keys', 'Scan', 'PutItem', 'UpdateItem'),
        ...['/apikeys', ANY_KEY, '/usageplans', ANY_PLANS_KEYS].map((path) => `apigateway:GET on ${GATEWAY}${path}`),
        'sqs:ChangeMessageVisibility on KeySyncQueue.Arn',
        'sqs:DeleteMessage on KeySyncQueue.Arn',
        'sqs:GetQueueAttributes on KeySyncQueue.Arn',
        'sqs:GetQueueUrl on KeySyncQueue.Arn',
        'sqs:ReceiveMessage on KeySyncQueue.Arn',
      ],
    ],
  ])('of %s may log and trace, and %j: nothing else', (one, grants) => {
    const logging = ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => `${action} on ${one}Logs.Arn`);

    expect(functions.find((candidate) => candidate.name === one)?.role).toBe(`${one}Role.Arn`);
    expect(grantsOf(`${one}Role`)).toEqual(
      [...grants, ...logging, ...TRACING].map((grant) => `Allow ${grant}`).toSorted(),
    );
  });

  test.each(functions)('of $name is taken by Lambda only, and has no managed policies', (one) => {
    const role = roles.find(({ id }) => `${withoutHash(id)}.Arn` === one.role)?.properties;

    expect(role?.AssumeRolePolicyDocument.Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } },
    ]);
    expect(Object.keys(role ?? {})).toEqual(['AssumeRolePolicyDocument']);
  });

  test('of anything has no wildcard, but for traces and the ids of keys and usage plans, which admins make', () => {
    const grants = functions.flatMap((one) => grantsOf(`${one.name}Role`));
    const tracing = new Set(TRACING.map((grant) => `Allow ${grant}`));

    expect(policies.flatMap(({ Roles }) => Roles).toSorted()).toEqual(
      functions.map((one) => `${one.name}Role`).toSorted(),
    );
    expect(grants.filter((grant) => grant.includes('*') && !tracing.has(grant))).toEqual([
      `Allow apigateway:GET on ${GATEWAY}${ANY_KEY}`,
      `Allow apigateway:GET on ${GATEWAY}${ANY_PLANS_KEYS}`,
    ]);
  });

  test.each(['AWS::IAM::Role', 'AWS::IAM::Policy'])(
    'is the same on production, by every %s but that of releases',
    (type) => {
      const ofFunctions = rawResourcesOf(production, type).filter(([id]) => !id.startsWith('Release'));

      expect(ofFunctions).toEqual(rawResourcesOf(staging, type));
    },
  );

  test('is one per function, and one for the gateway to log with', () => {
    expect(roles.map(({ id }) => withoutHash(id)).toSorted()).toEqual(
      ['ApiRestApiCloudWatchRole', ...functions.map((one) => `${one.name}Role`)].toSorted(),
    );
  });
});
