import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, stages } from '../../../infra/stages.ts';
import { inventoryTemplate, tableId } from '../../support/service-template.ts';
import { runModule } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const synthesize = `
  const [, root, outdir] = process.argv;
  const { App } = (await import(root + '/node_modules/aws-cdk-lib/index.js')).default;
  const { PipelineAccess } = await import(root + '/infra/release/pipeline-access.ts');
  const context = { '@aws-cdk/aws-iam:minimizePolicies': true };
  const app = new App({ analyticsReporting: false, context, outdir });
  new PipelineAccess(app, 'PipelineAccess');
  app.synth();
`;

const list = v.pipe(
  v.union([v.array(v.unknown()), v.string(), v.looseObject({})]),
  v.transform((value) => (Array.isArray(value) ? value : [value])),
);
const statementSchema = v.object({
  Effect: v.picklist(['Allow', 'Deny']),
  Action: v.pipe(list, v.array(v.string())),
  Resource: list,
});
const roleSchema = v.object({
  AssumeRolePolicyDocument: v.object({
    Statement: v.tuple([
      v.object({ Action: v.string(), Effect: v.string(), Condition: v.unknown(), Principal: v.unknown() }),
    ]),
  }),
});
const policySchema = v.object({
  PolicyDocument: v.object({ Statement: v.array(statementSchema) }),
  Roles: v.optional(v.tuple([v.object({ Ref: v.string() })])),
});
const templateSchema = v.object({
  Parameters: v.record(v.string(), v.looseObject({ AllowedPattern: v.optional(v.string()) })),
  Conditions: v.unknown(),
  Resources: v.record(v.string(), v.looseObject({ Type: v.string(), Properties: v.unknown() })),
  Outputs: v.record(v.string(), v.object({ Value: v.unknown() })),
});

const folder = temporaryFolder();
let template: v.InferOutput<typeof templateSchema>;

beforeAll(() => {
  runModule(synthesize, folder);
  template = v.parse(
    templateSchema,
    JSON.parse(readFileSync(path.join(folder, 'PipelineAccess.template.json'), 'utf8')),
  );
});

const resources = <Schema extends v.GenericSchema>(type: string, schema: Schema) =>
  Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties }]) => ({ id, properties: v.parse(schema, Properties) }));

/** A value as text, with what only the deploy knows in angle brackets. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const join = v.safeParse(v.object({ 'Fn::Join': v.tuple([v.literal(''), v.array(v.unknown())]) }), value);
  if (join.success) return join.output['Fn::Join'][1].map(textOf).join('');
  return `<${v.parse(v.object({ Ref: v.string() }), value).Ref}>`;
}

/** What the role whose logical id begins so may do: `action resource`. */
function allowed(role: string): string[] {
  return resources('AWS::IAM::ManagedPolicy', policySchema)
    .filter(({ properties: { Roles } }) => Roles?.[0].Ref.startsWith(role))
    .flatMap(({ properties: { PolicyDocument } }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) => Action.flatMap((action) => Resource.map((one) => `${action} ${textOf(one)}`)))
    .toSorted();
}

const stack = (name: string) => `arn:<AWS::Partition>:cloudformation:<AWS::Region>:<AWS::AccountId>:stack/${name}/*`;

const gateway = (action: string, ...paths: string[]) =>
  paths.map((one) => `apigateway:${action} arn:<AWS::Partition>:apigateway:<AWS::Region>::/${one}`);

describe('the access of the pipeline', () => {
  test.each([
    ['PullRequestRole', 'pull_request'],
    ['StagingRole', 'environment:staging'],
    ['ProductionRole', 'environment:production'],
  ])('%s is for jobs of the repository that GitHub calls %s, and for no other', (name, subject) => {
    const role = resources('AWS::IAM::Role', roleSchema).find(({ id }) => id.startsWith(name));
    const [trust] = role?.properties.AssumeRolePolicyDocument.Statement ?? [];

    expect(trust).toMatchObject({
      Effect: 'Allow',
      Action: 'sts:AssumeRoleWithWebIdentity',
      Condition: {
        StringEquals: {
          'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
          'token.actions.githubusercontent.com:sub': {
            'Fn::Join': ['', ['repo:', { Ref: 'Repository' }, `:${subject}`]],
          },
        },
      },
    });
    expect(Object.keys(v.parse(v.looseObject({}), trust?.Condition))).toEqual(['StringEquals']);
    expect(template.Outputs).toHaveProperty(`${name}Arn`);
  });

  test('trusts the provider that it makes, or the one that the account has', () => {
    expect(template.Conditions).toEqual({ ProviderIsMissing: { 'Fn::Equals': [{ Ref: 'HasProvider' }, 'no'] } });
    expect(template.Resources['Provider']).toEqual({
      Type: 'AWS::IAM::OIDCProvider',
      Condition: 'ProviderIsMissing',
      Properties: { Url: 'https://token.actions.githubusercontent.com', ClientIdList: ['sts.amazonaws.com'] },
    });
    for (const { properties } of resources('AWS::IAM::Role', roleSchema)) {
      expect(properties.AssumeRolePolicyDocument.Statement[0].Principal).toEqual({
        Federated: { 'Fn::If': ['ProviderIsMissing', { Ref: 'Provider' }, expect.anything()] },
      });
    }
  });

  test.each([
    ['acme/pets', true],
    ['acme-2/pet.store_1', true],
    ['acme@123456/pets@456789', true],
    ['acme', false],
    ['acme/*', false],
    ['acme/pets:ref', false],
    ['acme/pets/more', false],
  ])('of the repository %s: %j', (repository, expected) => {
    const pattern = template.Parameters['Repository']?.AllowedPattern ?? '';

    expect(new RegExp(`^(?:${pattern})$`).test(repository)).toBe(expected);
  });

  test('lets a pull request read what the stacks were deployed from, and nothing else', () => {
    const stacks = ['PipelineAccess', 'production-*', 'staging-*'].map(stack);

    expect(allowed('PullRequestRole')).toEqual([
      ...stacks.map((one) => `cloudformation:DescribeStacks ${one}`),
      ...stacks.map((one) => `cloudformation:GetTemplate ${one}`),
    ]);
  });

  test.each(stageNames)(
    'lets a deploy to %s use the roles of its own bootstrap and issue a key of its stage',
    (stage) => {
      const ofAccount = '<AWS::Region>:<AWS::AccountId>';
      const keysTable = `arn:<AWS::Partition>:dynamodb:${ofAccount}:table/${stage}-Inventory-TablesKeys*`;

      expect(allowed(stage === 'staging' ? 'StagingRole' : 'ProductionRole')).toEqual([
        ...gateway('DELETE', 'apikeys/*', 'tags/*'),
        ...gateway('GET', 'apikeys', 'apikeys/*', 'tags/*', 'usageplans', 'usageplans/*'),
        ...gateway('PATCH', 'apikeys/*'),
        ...gateway('POST', 'apikeys', 'tags/*', 'usageplans/*/keys'),
        ...gateway('PUT', 'tags/*'),
        `cloudformation:DescribeStacks arn:<AWS::Partition>:cloudformation:${ofAccount}:stack/${stage}-Inventory/*`,
        ...['GetItem', 'PutItem', 'Scan', 'UpdateItem'].map((one) => `dynamodb:${one} ${keysTable}`),
        ...['deploy', 'file-publishing', 'lookup'].map(
          (role) =>
            `sts:AssumeRole arn:<AWS::Partition>:iam::<AWS::AccountId>:role/cdk-${stages[stage].qualifier}-${role}-role-<AWS::AccountId>-<AWS::Region>`,
        ),
      ]);
      // CloudFormation names the table after the stack and the logical id.
      expect(tableId(inventoryTemplate(stage), 'Keys')).toMatch(/^TablesKeys/);
    },
  );

  test('has no stored key, no user and no policy within a role', () => {
    const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));

    expect([...types].toSorted()).toEqual(['AWS::IAM::ManagedPolicy', 'AWS::IAM::OIDCProvider', 'AWS::IAM::Role']);
    for (const { Properties } of Object.values(template.Resources)) expect(Properties).not.toHaveProperty('Policies');
  });

  test('gives a reason for every wildcard that npm run validate would refuse', () => {
    const schema = v.record(v.string(), v.array(v.object({ type: v.string(), data: v.optional(v.unknown()) })));
    const metadata = readFileSync(path.join(folder, 'PipelineAccess.metadata.json'), 'utf8');
    const acknowledged = Object.values(v.parse(schema, JSON.parse(metadata)))
      .flat()
      .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
      .flatMap(({ data }) => Object.entries(v.parse(v.record(v.string(), v.string()), data)));
    const ofRoles = ['PullRequestRole', 'StagingRole', 'ProductionRole']
      .flatMap(allowed)
      .filter((one) => one.includes('*'))
      .map((one) => `AwsSolutions::AwsSolutions-IAM5[Resource::${one.split(' ')[1]}]`);

    const rules = new Set(acknowledged.map(([rule]) => rule));
    expect(ofRoles.filter((rule) => !rules.has(rule))).toEqual([]);
    for (const [, reason] of acknowledged) expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});

describe.each(stageNames)('the bootstrap of %s', (stage) => {
  const other = stageNames.find((name) => name !== stage);
  const statementsOf = (name: string) =>
    resources('AWS::IAM::ManagedPolicy', policySchema)
      .filter(({ id }) => id.toLowerCase().startsWith(`${stage}${name}policy`))
      .flatMap(({ properties: { PolicyDocument } }) => PolicyDocument.Statement);

  test('lets CloudFormation use every service that the stage has something of', () => {
    const actions = statementsOf('execution').flatMap(({ Action }) => Action);
    const types = Object.values(inventoryTemplate(stage).Resources).map(({ Type }) => Type);
    const services = types.filter((type) => type.startsWith('AWS::')).map((type) => type.split('::')[1]?.toLowerCase());

    for (const service of new Set(services)) {
      expect(actions).toContain(service === 'iam' ? 'iam:*Role' : `${service}:*`);
    }
  });

  test('lets CloudFormation make roles of the stage alone', () => {
    const ofRoles = statementsOf('execution').filter(({ Action }) => Action.some((one) => one.startsWith('iam:*')));

    expect(ofRoles.flatMap(({ Resource }) => Resource.map(textOf))).toEqual([
      `arn:<AWS::Partition>:iam:*:<AWS::AccountId>:role/${stage}-*`,
    ]);
  });

  test('keeps whoever deploys it off all that has the name of the other stage', () => {
    const denied = statementsOf('boundary');
    const all = denied.flatMap(({ Resource }) => Resource.map(textOf));

    expect(denied).toMatchObject([{ Effect: 'Deny', Action: ['*'] }]);
    expect(all).toEqual(
      expect.arrayContaining([
        `arn:<AWS::Partition>:cloudformation:*:<AWS::AccountId>:stack/${other}-*`,
        `arn:<AWS::Partition>:dynamodb:*:<AWS::AccountId>:table/${other}-*`,
        `arn:<AWS::Partition>:iam:*:<AWS::AccountId>:role/cdk-${stages[other ?? stage].qualifier}-*`,
        `arn:<AWS::Partition>:lambda:*:<AWS::AccountId>:function:${other}-*`,
        `arn:<AWS::Partition>:s3:::cdk-${stages[other ?? stage].qualifier}-*`,
      ]),
    );
    expect(all.filter((one) => one.includes(`${stage}-`) || one.includes('NAME'))).toEqual([]);
  });
});

test('The stack is deployed before any bootstrap', () => {
  expect(Object.keys(template.Parameters).toSorted()).toEqual(['HasProvider', 'Repository']);
});
