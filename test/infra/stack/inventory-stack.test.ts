import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, type StageName } from '../../../infra/stages.ts';
import { apiMethods } from '../../support/api-methods.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { synthesizedStages, withoutHash } from '../../support/synthesized.ts';

const folderOfFirst = synthesizedOnce();
const synthesized = synthesizedStages();

const metadataSchema = v.record(v.string(), v.array(v.object({ type: v.string(), data: v.optional(v.unknown()) })));
const acknowledgedSchema = v.record(v.string(), v.string());

/** What the stack of the API acknowledges of the checks of cdk-nag: rule, construct path and reason. */
function acknowledgementsOf(stage: StageName) {
  const folder = path.join(folderOfFirst, `assembly-${stage}`);
  const files = readdirSync(folder).filter((file) => /Inventory\w+\.metadata\.json$/.test(file));
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

    expect(exported).toEqual([['GatewayUrl', expect.objectContaining({ Export: { Name: `${name}-BaseUrl` } })]]);
  });

  test('puts out nothing else, but for the address that the CDK gives every API', () => {
    const tables = ['KeysTableName', 'OrdersTableName', 'PetsTableName', 'StockTableName'];
    const own = ['ApiId', 'ApiStage', 'BaseUrl', 'GatewayUrl', ...tables];
    const ofCdk = expect.stringMatching(/^ApiRestApiEndpoint/);

    expect(Object.keys(outputs).toSorted()).toEqual([own[0], ofCdk, ...own.slice(1)]);
  });
});

test('The stacks of two stages have the same resources, but for what the settings of production add', () => {
  const added = [/^Release/, /^Firewall/, /^MonitoringAlarmsFirewallBlocks/];
  const [staging = [], production = []] = stageNames.map((name) =>
    Object.entries(synthesized[name].template.Resources).map(([id, { Type }]) => ({ id: withoutHash(id), type: Type })),
  );
  const onProductionAlone = production.filter(({ id }) => added.some((pattern) => pattern.test(id)));

  // Their ids have a hash of what is in them.
  const types = (resources: typeof staging) => resources.map(({ type }) => type);
  expect(types(production.filter((resource) => !onProductionAlone.includes(resource)))).toEqual(types(staging));
  expect(new Set(types(onProductionAlone))).toEqual(
    new Set([
      'AWS::CloudWatch::Alarm',
      'AWS::CodeDeploy::Application',
      'AWS::CodeDeploy::DeploymentGroup',
      'AWS::IAM::Policy',
      'AWS::IAM::Role',
      'AWS::Logs::LogGroup',
      'AWS::WAFv2::LoggingConfiguration',
      'AWS::WAFv2::WebACL',
      'AWS::WAFv2::WebACLAssociation',
    ]),
  );
});

describe('an acknowledged finding of cdk-nag', () => {
  const methods = apiMethods(synthesized.staging).map(({ properties: { HttpMethod }, path: at }) => ({
    construct: `Api/RestApi/Default${at === '/' ? '' : at}/${HttpMethod}`,
    isPreflight: HttpMethod === 'OPTIONS',
  }));

  const functions = ['Authorizer', 'Fallback', 'GetPet', 'ListInventory', 'ListOrders', 'UpdateInventory'];
  const roles = [...functions.map((name) => `Functions/${name}Role`), 'KeySync/FunctionRole'];
  const onAnyStage = [
    ['APIG2', 'Api/RestApi'],
    [
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      'Api/RestApi/CloudWatchRole',
    ],
    ...['/apikeys/*', '/usageplans/*/keys'].map((resource) => [
      `IAM5[Resource::arn:<AWS::Partition>:apigateway:<AWS::Region>::${resource}]`,
      'KeySync/FunctionRole/DefaultPolicy',
    ]),
    // Traces.
    ...roles.map((role) => ['IAM5[Resource::*]', `${role}/DefaultPolicy`]),
    // Our own authorizer, where the rule wants that of Cognito.
    ...methods.map(({ construct }) => ['COG4', construct]),
    // No authorizer at all.
    ...methods.filter(({ isPreflight }) => isPreflight).map(({ construct }) => ['APIG4', construct]),
  ];
  const idOf = (one: string) =>
    Object.keys(synthesized.production.template.Resources).find((id) =>
      new RegExp(`^Functions${one}[0-9A-F]{8}$`).test(id),
    );
  const onOneStage: Record<StageName, string[][]> = {
    staging: [['APIG3', 'Api/RestApi/DeploymentStage.v1']],
    production: [
      ['IAM5[Resource::*]', 'Release/Role/DefaultPolicy'],
      ...functions.map((one) => [`IAM5[Resource::<${idOf(one)}.Arn>:*]`, 'Release/Role/DefaultPolicy']),
    ],
  };

  test.each(stageNames)('of %s is one of these of AwsSolutions, and no other', (name) => {
    const expected = [...onAnyStage, ...onOneStage[name]].map(
      ([rule, construct]) => `AwsSolutions::AwsSolutions-${rule} at /${name}/Inventory/${construct}`,
    );
    const found = acknowledgementsOf(name)
      .filter(({ rule }) => rule.startsWith('AwsSolutions'))
      .map(({ rule, at }) => `${rule} at ${at}`);

    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  test.each(stageNames)('of %s is one of these of NIST 800-53 r5, and no other', (name) => {
    const forTheStack = [
      'APIGWCacheEnabledAndEncrypted',
      'APIGWSSLEnabled',
      'CloudWatchLogGroupEncrypted',
      'DynamoDBInBackupPlan',
      'IAMNoInlinePolicy',
      'LambdaConcurrency',
      'LambdaDLQ',
      'LambdaInsideVPC',
      'S3BucketLoggingEnabled',
      'S3BucketReplicationEnabled',
      'S3BucketVersioningEnabled',
      'S3DefaultEncryptionKMS',
    ].map((rule) => `${rule} at /${name}/Inventory`);
    const withoutFirewall = `APIGWAssociatedWithWAF at /${name}/Inventory/Api/RestApi/DeploymentStage.v1`;
    const found = acknowledgementsOf(name)
      .filter(({ rule }) => rule.startsWith('NIST'))
      .map(({ rule, at }) => `${rule.replace('NIST.800.53.R5::NIST.800.53.R5-', '')} at ${at}`);

    expect(found.toSorted()).toEqual([...(name === 'staging' ? [withoutFirewall] : []), ...forTheStack].toSorted());
  });

  test.each(stageNames.flatMap(acknowledgementsOf))('has its reason: $rule at $at', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});
