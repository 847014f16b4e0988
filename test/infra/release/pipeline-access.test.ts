import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { type StageName, stageNames } from '../../../infra/stages.ts';
import {
  grantsIn,
  inventoryTemplate,
  policiesOf,
  propertiesOf,
  resourceOf,
  withoutFunctions,
} from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const templateSchema = v.object({
  Parameters: v.record(v.string(), v.looseObject({ AllowedPattern: v.optional(v.string(), '') })),
  Conditions: v.unknown(),
  Resources: v.record(v.string(), v.looseObject({ Type: v.string() })),
});
const roleSchema = v.object({ AssumeRolePolicyDocument: v.looseObject({ Statement: v.array(v.unknown()) }) });

const textOf = (file: string): string => readFileSync(path.join(synthesizedOnce('access'), file), 'utf8');
const fileOf = (stage: StageName): string => `PipelineAccess-${stage}.template.json`;
const readTemplate = (stage: StageName) => v.parse(templateSchema, withoutFunctions(JSON.parse(textOf(fileOf(stage)))));
const templates = { staging: readTemplate('staging'), production: readTemplate('production') };

const rolesOf = (stage: StageName) =>
  propertiesOf(templates[stage].Resources, 'AWS::IAM::Role', roleSchema).map(([id, { AssumeRolePolicyDocument }]) => {
    const [trust] = AssumeRolePolicyDocument.Statement;
    return { id, trust };
  });

/** What the role whose logical id begins so may do. */
function allowed(stage: StageName, prefix: string): string[] {
  const { id = '' } = rolesOf(stage).find((role) => role.id.startsWith(prefix)) ?? {};
  return grantsIn(policiesOf(templates[stage].Resources, 'AWS::IAM::ManagedPolicy'), id).toSorted();
}

const ACCOUNT = '<AWS::Region>:<AWS::AccountId>';
const stack = (name: string) => `arn:<AWS::Partition>:cloudformation:${ACCOUNT}:stack/${name}/*`;
const gateway = (action: string, ...paths: string[]) =>
  paths.map((one) => `apigateway:${action} on arn:<AWS::Partition>:apigateway:<AWS::Region>::/${one}`);

describe('The access of the pipeline', () => {
  test.each<[stage: StageName, role: string, subject: string]>([
    ['production', 'PullRequestRole', 'pull_request'],
    ['staging', 'StagingRole', 'environment:staging'],
    ['production', 'ProductionRole', 'environment:production'],
  ])('to %s: %s trusts only jobs of the repository with the subject %s', (stage, name, subject) => {
    const issuer = 'token.actions.githubusercontent.com';

    expect(rolesOf(stage).find(({ id }) => id.startsWith(name))?.trust).toEqual({
      Effect: 'Allow',
      Action: 'sts:AssumeRoleWithWebIdentity',
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

  test('to one stage has no role for another', () => {
    const ids = stageNames.map((stage) => rolesOf(stage).map(({ id }) => id.replace(/Role\w*$/, '')));

    expect(ids).toEqual([['Staging'], ['PullRequest', 'Production']]);
    for (const [stage, other] of [stageNames, stageNames.toReversed()])
      expect(textOf(fileOf(stage))).not.toMatch(other);
  });

  test('creates the OIDC provider if it is missing; has no stored keys, users or inline policies', () => {
    const { Parameters, Conditions, Resources } = templates.staging;
    expect(Conditions).toMatchObject({ ProviderIsMissing: { 'Fn::Equals': ['<HasProvider>', 'no'] } });
    expect(Resources['Provider']).toMatchObject({
      Condition: 'ProviderIsMissing',
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { Url: 'https://token.actions.githubusercontent.com', ClientIdList: ['sts.amazonaws.com'] },
    });
    const types = new Set(Object.values(Resources).map(({ Type }) => Type));
    expect([...types].toSorted()).toEqual(['AWS::IAM::ManagedPolicy', 'AWS::IAM::OIDCProvider', 'AWS::IAM::Role']);
    for (const role of Object.values(Resources)) expect(role).not.toHaveProperty('Properties.Policies');
    expect(Object.keys(Parameters).toSorted()).toEqual(['HasProvider', 'Repository']);
  });

  test('needs no bootstrap, and its template fits into the API call', () => {
    const { artifacts } = JSON.parse(textOf('manifest.json'));

    for (const stage of stageNames) {
      const properties = Object.keys(artifacts[`PipelineAccess-${stage}`].properties);
      expect(properties.toSorted()).toEqual(['templateFile', 'terminationProtection', 'validateOnSynth']);
      expect(textOf(fileOf(stage)).length).toBeLessThan(51_200);
    }
  });

  test('passes cdk-nag', () => {
    expect(JSON.parse(textOf('validation-report.json'))).toMatchObject({
      pluginReports: [{ pluginName: 'AwsSolutions', conclusion: 'success' }],
    });
  });

  test('accepts only a repository name with its numeric ids', () => {
    const pattern = new RegExp(`^(?:${templates.production.Parameters['Repository']?.AllowedPattern})$`);
    const names = ['acme-2@123456/pet.store_1@456789', 'acme/pets', 'acme@1/*@2', 'acme/pets:ref'];

    expect(names.filter((name) => pattern.test(name))).toEqual(names.slice(0, 1));
  });

  test('lets a pull request only read the stacks of production', () => {
    expect(allowed('production', 'PullRequestRole')).toEqual(
      ['DescribeStacks', 'GetTemplate'].map((call) => `cloudformation:${call} on ${stack('production-*')}`),
    );
  });

  test.each(stageNames)('lets a deploy to %s use the standard bootstrap and issue a key of its stage', (stage) => {
    const tables = `arn:<AWS::Partition>:dynamodb:${ACCOUNT}:table/${stage}-Inventory-Tables`;
    const bootstrapped = ['deploy', 'file-publishing', 'lookup'].map(
      (role) => `role/cdk-hnb659fds-${role}-role-<AWS::AccountId>-<AWS::Region>`,
    );

    expect(allowed(stage, stage === 'staging' ? 'StagingRole' : 'ProductionRole')).toEqual([
      ...gateway('DELETE', 'apikeys/*', 'tags/*'),
      ...gateway('GET', 'apikeys', 'apikeys/*', 'tags/*', 'usageplans', 'usageplans/*'),
      ...gateway('PATCH', 'apikeys/*'),
      ...gateway('POST', 'apikeys', 'tags/*', 'usageplans/*/keys'),
      ...gateway('PUT', 'tags/*'),
      `cloudformation:CancelUpdateStack on ${stack(`${stage}-*`)}`,
      `cloudformation:DescribeStackEvents on ${stack(`${stage}-*`)}`,
      `cloudformation:DescribeStackResource on ${stack(`${stage}-*`)}`,
      `cloudformation:DescribeStacks on ${stack(`${stage}-*`)}`,
      `cloudformation:GetTemplate on ${stack(`${stage}-*`)}`,
      ...['GetItem Keys', 'PutItem History', 'PutItem Keys', 'Scan Keys', 'UpdateItem Keys'].map(
        (one) => `dynamodb:${one.replace(' ', ` on ${tables}`)}*`,
      ),
      `ssm:GetParameter on arn:<AWS::Partition>:ssm:${ACCOUNT}:parameter/cdk-bootstrap/hnb659fds/version`,
      ...bootstrapped.map((role) => `sts:AssumeRole on arn:<AWS::Partition>:iam::<AWS::AccountId>:${role}`),
    ]);
    // CloudFormation names a table after the stack and the logical id.
    for (const id of ['TablesKeys', 'TablesHistory'])
      expect(resourceOf(inventoryTemplate(stage), 'AWS::DynamoDB::Table', id)).toBeDefined();
  });
});
