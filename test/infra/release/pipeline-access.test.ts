import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, stages } from '../../../infra/stages.ts';
import { inventoryTemplate, resourceOf, withoutFunctions } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const list = v.pipe(
  v.unknown(),
  v.transform((value) => [value].flat()),
  v.array(v.string()),
);
const statementSchema = v.looseObject({ Effect: v.string(), Action: list, Resource: v.optional(list, []) });
const documentSchema = v.optional(v.object({ Statement: v.array(statementSchema) }), { Statement: [] });
const propertiesSchema = v.looseObject({
  AssumeRolePolicyDocument: documentSchema,
  PolicyDocument: documentSchema,
  Roles: v.optional(v.array(v.string()), []),
});
const templateSchema = v.object({
  Parameters: v.record(v.string(), v.looseObject({ AllowedPattern: v.optional(v.string(), '') })),
  Conditions: v.unknown(),
  Resources: v.record(v.string(), v.looseObject({ Type: v.string(), Properties: propertiesSchema })),
});

const read = (file: string): unknown => JSON.parse(readFileSync(path.join(synthesizedOnce(), file), 'utf8'));
const template = v.parse(templateSchema, withoutFunctions(read('PipelineAccess.template.json')));
const ofType = (type: string) => Object.entries(template.Resources).filter(([, { Type }]) => Type === type);
const roles = ofType('AWS::IAM::Role').map(([id, { Properties }]) => {
  const [trust] = Properties.AssumeRolePolicyDocument.Statement;
  return { id, trust };
});
const policies = ofType('AWS::IAM::ManagedPolicy').map(([, { Properties }]) => {
  const grants = Properties.PolicyDocument.Statement.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => Resource.map((one) => `${action} ${one}`)),
  );
  return { role: Properties.Roles[0] ?? '', grants };
});

/** What the role whose logical id begins so may do: `action resource`. */
const allowed = (prefix: string): string[] =>
  policies.flatMap(({ role, grants }) => (role.startsWith(`<${prefix}`) ? grants : [])).toSorted();

const ACCOUNT = '<AWS::Region>:<AWS::AccountId>';
const stack = (name: string) => `arn:<AWS::Partition>:cloudformation:${ACCOUNT}:stack/${name}/*`;
const gateway = (action: string, ...paths: string[]) =>
  paths.map((one) => `apigateway:${action} arn:<AWS::Partition>:apigateway:<AWS::Region>::/${one}`);

describe('the access of the pipeline', () => {
  test.each([
    ['PullRequestRole', 'pull_request'],
    ['StagingRole', 'environment:staging'],
    ['ProductionRole', 'environment:production'],
  ])('%s is for jobs of the repository that GitHub calls %s, by its provider, and for no other', (name, subject) => {
    const issuer = 'token.actions.githubusercontent.com';

    expect(roles.find(({ id }) => id.startsWith(name))?.trust).toEqual({
      Effect: 'Allow',
      Action: ['sts:AssumeRoleWithWebIdentity'],
      Resource: [],
      Condition: {
        StringEquals: {
          [`${issuer}:aud`]: 'sts.amazonaws.com',
          [`${issuer}:sub`]: [
            `repo:<Repository>:${subject}`,
            expect.objectContaining({ 'Fn::Join': expect.anything() }),
          ],
        },
      },
      Principal: { Federated: { 'Fn::If': ['ProviderIsMissing', '<Provider>', expect.anything()] } },
    });
  });

  test('makes that provider, unless the account has it; it has no stored key, no user and no policy within a role', () => {
    expect(template.Conditions).toMatchObject({ ProviderIsMissing: { 'Fn::Equals': ['<HasProvider>', 'no'] } });
    expect(template.Resources['Provider']).toMatchObject({
      Condition: 'ProviderIsMissing',
      Properties: { Url: 'https://token.actions.githubusercontent.com', ClientIdList: ['sts.amazonaws.com'] },
    });
    const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));
    expect([...types].toSorted()).toEqual(['AWS::IAM::ManagedPolicy', 'AWS::IAM::OIDCProvider', 'AWS::IAM::Role']);
    for (const { Properties } of Object.values(template.Resources)) expect(Properties).not.toHaveProperty('Policies');
    // No parameter of a bootstrap, which comes after it.
    expect(Object.keys(template.Parameters).toSorted()).toEqual(['HasProvider', 'Repository']);
  });

  test('is for a repository that is named with its numbers', () => {
    const pattern = new RegExp(`^(?:${template.Parameters['Repository']?.AllowedPattern})$`);
    const names = ['acme-2@123456/pet.store_1@456789', 'acme/pets', 'acme@1/*@2', 'acme/pets:ref'];

    expect(names.filter((name) => pattern.test(name))).toEqual(names.slice(0, 1));
  });

  test('lets a pull request read what the stacks were deployed from, and nothing else', () => {
    const stacks = ['PipelineAccess', 'production-*', 'staging-*'].map(stack);

    expect(allowed('PullRequestRole')).toEqual(
      ['DescribeStacks', 'GetTemplate'].flatMap((call) => stacks.map((one) => `cloudformation:${call} ${one}`)),
    );
  });

  test.each(stageNames)('lets a deploy to %s use its own bootstrap and issue a key of its stage', (stage) => {
    const keysTable = `arn:<AWS::Partition>:dynamodb:${ACCOUNT}:table/${stage}-Inventory-TablesKeys*`;
    const bootstrapped = ['deploy', 'file-publishing', 'lookup'].map(
      (role) => `role/cdk-${stages[stage].qualifier}-${role}-role-<AWS::AccountId>-<AWS::Region>`,
    );

    expect(allowed(stage === 'staging' ? 'StagingRole' : 'ProductionRole')).toEqual([
      ...gateway('DELETE', 'apikeys/*', 'tags/*'),
      ...gateway('GET', 'apikeys', 'apikeys/*', 'tags/*', 'usageplans', 'usageplans/*'),
      ...gateway('PATCH', 'apikeys/*'),
      ...gateway('POST', 'apikeys', 'tags/*', 'usageplans/*/keys'),
      ...gateway('PUT', 'tags/*'),
      `cloudformation:CancelUpdateStack ${stack(`${stage}-*`)}`,
      `cloudformation:DescribeStacks ${stack(`CDKToolkit-${stages[stage].qualifier}`)}`,
      `cloudformation:DescribeStacks ${stack(`${stage}-*`)}`,
      `cloudformation:GetTemplate ${stack(`${stage}-*`)}`,
      ...['GetItem', 'PutItem', 'Scan', 'UpdateItem'].map((one) => `dynamodb:${one} ${keysTable}`),
      'lambda:GetAccountSettings *',
      ...bootstrapped.map((role) => `sts:AssumeRole arn:<AWS::Partition>:iam::<AWS::AccountId>:${role}`),
    ]);
    // CloudFormation names the table after the stack and the logical id.
    expect(resourceOf(inventoryTemplate(stage), 'AWS::DynamoDB::Table', 'TablesKeys')).toBeDefined();
  });
});
