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

const functionNamed = (wanted: string) => functions.find((candidate) => candidate.name === wanted)?.properties;

const oneOrMany = v.union([
  v.array(v.string()),
  v.pipe(
    v.string(),
    v.transform((one) => [one]),
  ),
]);

const statement = v.strictObject({
  Effect: v.string(),
  Action: oneOrMany,
  Resource: v.union([attributeOf, v.unknown()]),
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

/** Everything that a role may do, as `action on resource`. */
function grantsOf(role: string): string[] {
  return policies
    .filter(({ Roles }) => Roles.includes(role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource }) =>
      Action.map(
        (action) => `${Effect} ${action} on ${typeof Resource === 'string' ? Resource : JSON.stringify(Resource)}`,
      ),
    )
    .toSorted();
}

describe('the functions', () => {
  test('are the authorizer, one per operation, and the fallback', () => {
    expect(functions.map((one) => one.name).toSorted()).toEqual([
      'FunctionsAuthorizer',
      'FunctionsFallback',
      'FunctionsListInventory',
      'FunctionsUpdateInventory',
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

  test.each(functions)('$name gives up before the gateway does, so that the answer is its own', ({ properties }) => {
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
      { KEYS_TABLE: 'TablesKeys', OVERFLOW_USAGE_IDENTIFIER: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ],
    ['FunctionsListInventory', { STOCK_TABLE: 'TablesStock' }],
    ['FunctionsUpdateInventory', { STOCK_TABLE: 'TablesStock' }],
    ['FunctionsFallback', undefined],
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

  test('of anything has no wildcard, neither in an action nor in a resource', () => {
    expect(policies).toHaveLength(functions.length);
    expect(JSON.stringify(policies)).not.toContain('*');
  });

  test('is one per function, and one for the gateway to log with', () => {
    expect(roles.map(({ id }) => withoutHash(id)).toSorted()).toEqual(
      ['ApiRestApiCloudWatchRole', ...functions.map((one) => `${one.name}Role`)].toSorted(),
    );
  });
});
