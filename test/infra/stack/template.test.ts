import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, tableNames } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import {
  capitalised,
  differenceFrom,
  inventoryTemplate,
  propertiesOf,
  readableStage,
} from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const staging = readableStage('staging');
const production = readableStage('production');
const each = (names: readonly string[], part: unknown) => Object.fromEntries(names.map((name) => [name, part]));

const method = (ResourcePath: string, MetricsEnabled: boolean) => ({
  ResourcePath,
  MetricsEnabled,
  LoggingLevel: 'ERROR',
  DataTraceEnabled: false,
  ThrottlingBurstLimit: 5_000,
  ThrottlingRateLimit: 2_500,
});

/** What no other suite looks at, of every resource of a type. */
const settings: readonly [type: string, properties: object][] = [
  [
    'AWS::ApiGateway::RestApi',
    { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'STRICT' },
  ],
  ['AWS::DynamoDB::Table', { BillingMode: 'PAY_PER_REQUEST', SSESpecification: { SSEEnabled: true } }],
  [
    'AWS::Lambda::Function',
    {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO', SystemLogLevel: 'WARN' },
    },
  ],
  ['AWS::Logs::LogGroup', { RetentionInDays: 30 }],
];

test.each(settings)('Every %s is set as it should be', (type, properties) => {
  const found = propertiesOf(production, type, v.unknown()).map(([, one]) => one);

  expect(found).not.toEqual([]);
  for (const one of found) expect(one).toMatchObject(properties);
});

test('The access log has neither paths nor keys, which may hold what must not be logged', () => {
  const schema = v.object({ AccessLogSetting: v.object({ Format: v.record(v.string(), v.string()) }) });
  const [[, stage] = []] = propertiesOf(staging, 'AWS::ApiGateway::Stage', schema);
  const sources = Object.values(stage?.AccessLogSetting.Format ?? {}).join(' ');

  expect(sources).toMatch(/requestId/);
  expect(sources).not.toMatch(/\.path|apiKey\b|querystring/i);
});

test('DynamoDB deletes old records of keys and requests, and nothing else', () => {
  const timeToLive = propertiesOf(staging, 'AWS::DynamoDB::Table', v.looseObject({})).flatMap(([name, table]) =>
    'TimeToLiveSpecification' in table ? [[name, table['TimeToLiveSpecification']]] : [],
  );

  expect(Object.fromEntries(timeToLive)).toEqual({
    TablesKeys: { AttributeName: 'purgeAt', Enabled: true },
    TablesRequests: { AttributeName: 'expiresAt', Enabled: true },
  });
});

describe('production differs from staging', () => {
  const functions = ['authorizer', 'fallback', ...Object.keys(operations)].map((id) => `Functions${capitalised(id)}`);
  const parts = Object.entries(Object(differenceFrom(staging, production)));
  const [changed = [], added = []] = [true, false].map((isThere) =>
    parts.filter(([name]) => name in staging === isThere),
  );

  test('by its throttle, bounded lists, a canary of every function, and tables that are kept', () => {
    const MethodSettings = [
      method('/*', false),
      method('/~1inventory~1{petId}', true),
      method('/~1pets~1{petId}', true),
    ].map((one) => expect.objectContaining(one));

    expect(Object.fromEntries(changed)).toEqual({
      ApiRestApiDeploymentStagev1: { Properties: { MethodSettings } },
      ...each(
        functions.map((name) => `${name}Aliaslive`),
        { UpdatePolicy: { CodeDeployLambdaAliasUpdate: expect.anything() } },
      ),
      FunctionsUpdateInventories: { Properties: { ReservedConcurrentExecutions: 10 } },
      ...each(['FunctionsListInventory', 'FunctionsListOrders'], { Properties: { ReservedConcurrentExecutions: 100 } }),
      ...each(
        tableNames.map((name) => `Tables${capitalised(name)}`),
        { Properties: { DeletionProtectionEnabled: true }, UpdateReplacePolicy: 'Retain', DeletionPolicy: 'Retain' },
      ),
      ...each(['UsagePlansEnterprise', 'UsagePlansOverflow'], { Properties: { Throttle: { RateLimit: 2_500 } } }),
    });
  });

  test('by its firewall, monitoring and rollout', () => {
    expect(new Set(added.map(([name]) => /^[A-Z][a-z]+/.exec(name)?.[0]))).toEqual(
      new Set(['Firewall', 'Monitoring', 'Rollout']),
    );
  });

  test('by a firewall that blocks floods and known attacks, and logs no secret', () => {
    const { FirewallAcl: acl, FirewallLogging: logging } = Object.fromEntries(added);
    const VisibilityConfig = { SampledRequestsEnabled: false };
    const block = (Name: string, Limit: number) => ({
      Name,
      Action: { Block: {} },
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP', Limit } },
      VisibilityConfig,
    });
    const managed = (Name: string) => ({ Name, OverrideAction: { None: {} }, VisibilityConfig });
    const headers = ['authorization', 'x-api-key', 'cookie'].map((Name) => ({ SingleHeader: { Name } }));

    expect(acl).toMatchObject({
      Properties: {
        DefaultAction: { Allow: {} },
        Rules: [
          block('RequestsPerAddress', 12_000),
          managed('AWSManagedRulesCommonRuleSet'),
          managed('AWSManagedRulesKnownBadInputsRuleSet'),
          block('RequestsWithoutKey', 2_000),
        ],
      },
    });
    expect(logging).toMatchObject({
      Properties: { RedactedFields: [...headers, { QueryString: {} }, { UriPath: {} }] },
    });
  });

  test('by deployment groups that any alarm of a rollout takes back', () => {
    const groups = propertiesOf(production, 'AWS::CodeDeploy::DeploymentGroup', v.unknown());

    expect(groups).toHaveLength(functions.length);
    for (const [, group] of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
        AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
        AlarmConfiguration: {
          Alarms: [
            ...['ApiErrors', 'SlowAnswers', 'AuthorizerErrors', 'FunctionErrors'].map(
              (name) => `MonitoringAlarms${name}`,
            ),
            'RolloutAnyError',
          ].map((name) => ({ Name: `<${name}>` })),
        },
      });
    }
  });
});

/** CloudFormation replaces what gets another id: tables would be empty, and clients would call an API that is gone. */
const idsThatStay = [
  'ApiAccessLogs50B185DB',
  'ApiExecutionLogsB326CF6B',
  'ApiRestApiE35FEAFE',
  'FunctionsAdjustInventoryECB2B568',
  'FunctionsAdjustInventoryLogs977C2BCF',
  'FunctionsAuthorizer453D4F28',
  'FunctionsAuthorizerLogsAFE6D4FC',
  'FunctionsFallback6A5E14EC',
  'FunctionsFallbackLogsCF12837B',
  'FunctionsGetInventoryF286B9BC',
  'FunctionsGetInventoryLogs4B2042AD',
  'FunctionsGetKey68C89755',
  'FunctionsGetKeyLogs985A744B',
  'FunctionsGetPet0469058F',
  'FunctionsGetPetLogs69FCFA6A',
  'FunctionsListInventory46009E6E',
  'FunctionsListInventoryLogs50A79A12',
  'FunctionsListOrdersC8991EBD',
  'FunctionsListOrdersLogs5E4AD547',
  'FunctionsUpdateInventoriesACCE17A7',
  'FunctionsUpdateInventoriesLogs881D95B8',
  'FunctionsUpdateInventoryBEF62497',
  'FunctionsUpdateInventoryLogs0E917A4C',
  'KeySyncFunction38BC2B32',
  'KeySyncFunctionLogs88865A21',
  'KeySyncQueue05161705',
  'TablesKeys6B5A3ABF',
  'TablesOrdersACF7C9C0',
  'TablesPetsD2B49199',
  'TablesRequests3CA232D6',
  'TablesStock190D1C2E',
];

test.each(stageNames)('What %s has to keep, keeps its logical id', (stage) => {
  const kept = /^AWS::(DynamoDB::Table|ApiGateway::RestApi|Lambda::Function|Logs::LogGroup|SQS::Queue)$/;
  const { Resources } = inventoryTemplate(stage);
  const ids = Object.entries(Resources).flatMap(([id, { Type }]) => (kept.test(Type) ? [id] : []));

  expect(ids.filter((id) => !/^(?:Firewall|Proof|AWSCDKTrigger)/.test(id)).toSorted()).toEqual(idsThatStay);
});

const templateSchema = v.looseObject({ Resources: v.record(v.string(), v.unknown()) });

/** The names that a value refers to, by Ref, GetAtt or DependsOn. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    if (name === 'Ref' || name === 'DependsOn') return [part].flat().map(String);
    return name === 'Fn::GetAtt' && Array.isArray(part) ? [String(part[0])] : referencesIn(part);
  });
}

/** The resources that refer to each other, so that none can be made first. */
function inCircles(resources: Readonly<Record<string, unknown>>): string[] {
  const needs = Object.entries(resources).map(([id, one]) => ({ id, of: referencesIn(one).filter((it) => it !== id) }));
  let waiting = needs;
  let before = Infinity;
  while (waiting.length < before) {
    before = waiting.length;
    const names = new Set(waiting.map(({ id }) => id));
    waiting = waiting.filter(({ of }) => of.some((name) => names.has(name)));
  }
  return waiting.map(({ id }) => id);
}

describe.each(stageNames)('CloudFormation can deploy %s', (stage) => {
  const folder = path.join(synthesizedOnce(), `assembly-${stage}`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.template.json'));
  const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8'));

  test('because its resources have an order in which they can be made, and are not too many', () => {
    for (const text of texts) {
      const { Resources } = v.parse(templateSchema, JSON.parse(text));
      expect(inCircles(Resources)).toEqual([]);
      expect(Object.keys(Resources).length).toBeLessThanOrEqual(500);
      expect(text.length).toBeLessThan(1024 * 1024);
    }
  });

  test('because its stacks export what they import', () => {
    const text = texts.join('');
    const imported = [...text.matchAll(/"Fn::ImportValue":\s*"([^"]+)"/g)].map(([, name]) => name);
    const exported = [...text.matchAll(/"Export":\s*\{\s*"Name":\s*"([^"]+)"/g)].map(([, name]) => name);

    expect(imported).not.toEqual([]);
    expect(exported).toEqual(expect.arrayContaining(imported));
  });

  test.each([
    ['AWS::CloudWatch::Alarm', 'AlarmDescription', 1_024],
    ['AWS::IAM::Policy', 'PolicyDocument', 8_000],
    ['AWS::Lambda::Function', 'Description', 256],
    ['AWS::Lambda::Function', 'Environment', 3_500],
  ])('because no %s has a %s beyond its bytes: %d', (type, property, most) => {
    for (const [, properties] of propertiesOf(readableStage(stage), type, v.looseObject({}))) {
      expect(Buffer.byteLength(JSON.stringify(properties[property] ?? ''))).toBeLessThanOrEqual(most);
    }
  });
});
