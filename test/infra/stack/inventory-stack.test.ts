import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { createApp } from '../../../infra/create-app.ts';
import { stages } from '../../../infra/stages.ts';
import { synthesizedBy, synthesizeStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const app = createApp(Object.values(stages), { outdir: temporaryFolder() });
const synthesized = synthesizedBy(app);
const again = synthesizeStages(temporaryFolder());
const resourceTypesSchema = v.object({ Resources: v.record(v.string(), v.object({ Type: v.string() })) });
const outputsSchema = v.object({ Outputs: v.record(v.string(), v.unknown()) });
const stageNames = ['staging', 'production'] as const;

/** What the app acknowledges of the checks of cdk-nag: rule, construct path and reason. */
const acknowledgements = app.node.findAll().flatMap(({ node }) =>
  node.metadata
    .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
    .flatMap(({ data }) => Object.entries(v.parse(v.record(v.string(), v.string()), data)))
    .map(([rule, reason]) => ({ rule, path: node.path, reason })),
);

describe.each(stageNames)('the stack of %s', (name) => {
  const { template } = synthesized[name];
  const { Outputs: outputs } = v.parse(outputsSchema, template.toJSON());

  test('is synthesized the same every time, so that a deployment shows only what was changed', () => {
    expect(again[name].template.toJSON()).toEqual(template.toJSON());
  });

  test('says what it is', () => {
    expect(template.toJSON()).toHaveProperty('Description', `Pet store inventory service (${name})`);
  });

  test('puts out the base address, the stage of the API, and the names of the tables', () => {
    expect(outputs).toMatchObject({
      ApiId: { Value: { Ref: expect.stringMatching(/^ApiRestApi[0-9A-F]{8}$/) } },
      ApiStage: { Value: { Ref: expect.stringMatching(/^ApiRestApiDeploymentStagev1/) } },
      StockTableName: { Value: { Ref: expect.stringMatching(/^TablesStock/) } },
      KeysTableName: { Value: { Ref: expect.stringMatching(/^TablesKeys/) } },
    });
    expect(JSON.stringify(outputs.BaseUrl)).toMatch(
      /"https:\/\/".*"\.execute-api\.".*"\/",\{"Ref":"ApiRestApi[^"]+"\}\]\]/,
    );
  });

  test('puts out nothing else, but for the address that the CDK gives every API', () => {
    const own = ['ApiId', 'ApiStage', 'BaseUrl', 'KeysTableName', 'StockTableName'];
    const ofCdk = expect.stringMatching(/^ApiRestApiEndpoint/);

    expect(Object.keys(outputs).toSorted()).toEqual([own[0], ofCdk, ...own.slice(1)]);
  });
});

test('The stacks of two stages have the same resources', () => {
  const [staging, production] = stageNames.map((name) => {
    const { Resources } = v.parse(resourceTypesSchema, synthesized[name].template.toJSON());
    return Object.values(Resources).map(({ Type }) => Type);
  });

  expect(staging).toEqual(production);
});

describe('an acknowledged finding of cdk-nag', () => {
  const routes = [
    'ANY',
    '{path+}/ANY',
    'inventory/ANY',
    'inventory/GET',
    'inventory/{petId}/ANY',
    'inventory/{petId}/PATCH',
  ];

  test.each(stageNames)('of %s is one of these, and no other', (name) => {
    const expected = [
      ['APIG2', 'Api/RestApi'],
      ['APIG3', 'Api/RestApi/DeploymentStage.v1'],
      [
        'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
        'Api/RestApi/CloudWatchRole',
      ],
      ...['/apikeys/*', '/usageplans/*/keys'].map((path) => [
        `IAM5[Resource::arn:<AWS::Partition>:apigateway:<AWS::Region>::${path}]`,
        'KeySync/FunctionRole/DefaultPolicy',
      ]),
      ...routes.map((route) => ['COG4', `Api/RestApi/Default/${route}`]),
    ].map(([rule, path]) => `AwsSolutions::AwsSolutions-${rule} at ${name}/Inventory/${path}`);

    expect(
      acknowledgements
        .filter(({ path }) => path.startsWith(`${name}/`))
        .map(({ rule, path }) => `${rule} at ${path}`)
        .toSorted(),
    ).toEqual(expected.toSorted());
  });

  test.each(acknowledgements)('has its reason: $rule at $path', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});
