import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { stageNames, type StageName } from '../../../infra/stages.ts';
import { apiMethods } from '../../support/api-methods.ts';
import { synthesizedOnce, synthesizeInto } from '../../support/synthesize-once.ts';
import { synthesizedStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folderOfFirst = synthesizedOnce();
const folderOfSecond = temporaryFolder();
const synthesized = synthesizedStages();

const metadataSchema = v.record(v.string(), v.array(v.object({ type: v.string(), data: v.optional(v.unknown()) })));
const acknowledgedSchema = v.record(v.string(), v.string());

/** What a stage acknowledges of the checks of cdk-nag: rule, construct path and reason. */
function acknowledgementsOf(stage: StageName) {
  const folder = path.join(folderOfFirst, `assembly-${stage}`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.metadata.json'));
  return files
    .flatMap((file) =>
      Object.entries(v.parse(metadataSchema, JSON.parse(readFileSync(path.join(folder, file), 'utf8')))),
    )
    .flatMap(([at, entries]) =>
      entries
        .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
        .flatMap(({ data }) => Object.entries(v.parse(acknowledgedSchema, data)))
        .map(([rule, reason]) => ({ rule, at, reason })),
    );
}

describe.each(stageNames)('the stack of %s', (name) => {
  const { template } = synthesized[name];
  const { Outputs: outputs } = template;

  test('says what it is', () => {
    expect(template.Description).toBe(`Pet store inventory service (${name})`);
  });

  test('puts out the base address, the stage of the API, and the names of the tables that are filled from outside', () => {
    expect(outputs).toMatchObject({
      ApiId: { Value: { Ref: expect.stringMatching(/^ApiRestApi[0-9A-F]{8}$/) } },
      ApiStage: { Value: { Ref: expect.stringMatching(/^ApiRestApiDeploymentStagev1/) } },
      StockTableName: { Value: { Ref: expect.stringMatching(/^TablesStock/) } },
      KeysTableName: { Value: { Ref: expect.stringMatching(/^TablesKeys/) } },
      PetsTableName: { Value: { Ref: expect.stringMatching(/^TablesPets/) } },
      OrdersTableName: { Value: { Ref: expect.stringMatching(/^TablesOrders/) } },
    });
    expect(JSON.stringify(outputs.BaseUrl?.Value)).toMatch(
      /"https:\/\/".*"\.execute-api\.".*"\/",\{"Ref":"ApiRestApi[^"]+"\}\]\]/,
    );
  });

  test('exports the base address for the reference page, and nothing else', () => {
    const exported = Object.entries(outputs).filter(([, output]) => 'Export' in output);

    expect(exported).toEqual([['BaseUrl', expect.objectContaining({ Export: { Name: `${name}-BaseUrl` } })]]);
  });

  test('puts out nothing else, but for the address that the CDK gives every API', () => {
    const own = ['ApiId', 'ApiStage', 'BaseUrl', 'KeysTableName', 'OrdersTableName', 'PetsTableName', 'StockTableName'];
    const ofCdk = expect.stringMatching(/^ApiRestApiEndpoint/);

    expect(Object.keys(outputs).toSorted()).toEqual([own[0], ofCdk, ...own.slice(1)]);
  });
});

test('The stacks of two stages have the same resources', () => {
  const [staging, production] = stageNames.map((name) =>
    Object.values(synthesized[name].template.Resources).map(({ Type }) => Type),
  );

  expect(staging).toEqual(production);
});

test('The stacks are synthesized the same every time, so that a deployment shows only what was changed', () => {
  synthesizeInto(folderOfSecond);

  for (const name of stageNames) {
    expect(readAssembly(folderOfSecond, name).template).toEqual(readAssembly(folderOfFirst, name).template);
  }
});

describe('an acknowledged finding of cdk-nag', () => {
  const methods = apiMethods(synthesized.staging).map(({ properties: { HttpMethod }, path: at }) => ({
    construct: `Api/RestApi/Default${at === '/' ? '' : at}/${HttpMethod}`,
    isPreflight: HttpMethod === 'OPTIONS',
  }));

  test.each(stageNames)('of %s is one of these, and no other', (name) => {
    const expected = [
      ['APIG2', 'Api/RestApi'],
      ['APIG3', 'Api/RestApi/DeploymentStage.v1'],
      [
        'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
        'Api/RestApi/CloudWatchRole',
      ],
      ...['/apikeys/*', '/usageplans/*/keys'].map((resource) => [
        `IAM5[Resource::arn:<AWS::Partition>:apigateway:<AWS::Region>::${resource}]`,
        'KeySync/FunctionRole/DefaultPolicy',
      ]),
      // Our own authorizer, where the rule wants that of Cognito.
      ...methods.map(({ construct }) => ['COG4', construct]),
      // No authorizer at all.
      ...methods.filter(({ isPreflight }) => isPreflight).map(({ construct }) => ['APIG4', construct]),
    ].map(([rule, construct]) => `AwsSolutions::AwsSolutions-${rule} at /${name}/Inventory/${construct}`);

    expect(
      acknowledgementsOf(name)
        .map(({ rule, at }) => `${rule} at ${at}`)
        .toSorted(),
    ).toEqual(expected.toSorted());
  });

  test.each(stageNames.flatMap(acknowledgementsOf))('has its reason: $rule at $at', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});
