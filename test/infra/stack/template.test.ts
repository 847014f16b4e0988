import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, stages } from '../../../infra/stages.ts';
import {
  inventoryTemplate,
  propertiesIn,
  propertiesOf,
  readableStage,
  resourcesIn,
} from '../../support/service-template.ts';

/**
 * What CloudFormation knows the tables by. Another logical id, key or type of a key makes an empty table in the place
 * of this one, which stays in the account unseen, or on staging is deleted; its data come over by `restore` alone. Less
 * retention or protection lets a mistake delete them. The deploy command refuses only the first (`--allow-table-loss`).
 */
const tables = {
  TablesStock190D1C2E: 'storeId S HASH, petId N RANGE',
  TablesKeys6B5A3ABF: 'recordId S HASH',
  TablesPetsD2B49199: 'petId N HASH',
  TablesOrdersACF7C9C0: 'storeId S HASH, orderId N RANGE',
  TablesRequests3CA232D6: 'requestId S HASH',
  TablesChangesCE5E7F7A: 'petId N HASH, change S RANGE',
  TablesHistory40CCE7D9: 'recordId S HASH, revision N RANGE',
  TablesUsageA60E9525: 'recordId S HASH, day S RANGE',
};

const tableSchema = v.object({
  KeySchema: v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })),
  AttributeDefinitions: v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })),
});

/** The key of a table: the name, type and role of each attribute. */
function keyOf(properties: unknown): string {
  const { KeySchema, AttributeDefinitions } = v.parse(tableSchema, properties);
  const types = new Map(AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]));
  return KeySchema.map(({ AttributeName: name, KeyType }) => `${name} ${types.get(name)} ${KeyType}`).join(', ');
}

test.each([
  ['staging', 'Delete', false],
  ['production', 'Retain', true],
] as const)('%s has exactly these tables: a changed id or key loses data', (stage, policy, isProtected) => {
  const found = Object.entries(inventoryTemplate(stage).Resources).filter(([, { Type }]) => Type.includes('Table'));

  expect(Object.fromEntries(found.map(([id, { Properties }]) => [id, keyOf(Properties)]))).toEqual(tables);
  // It is switched on and off without another table.
  expect(found.map(([, { Properties }]) => Properties['StreamSpecification'])).toEqual([
    { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    ...Array.from({ length: 5 }, () => undefined),
  ]);
  for (const [, table] of found)
    expect(table).toMatchObject({
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: {
        DeletionProtectionEnabled: isProtected,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
});

test('DynamoDB expires records of keys, requests, histories and usage only', () => {
  const timeToLive = propertiesIn(inventoryTemplate('production'), 'AWS::DynamoDB::Table').flatMap(
    ({ TimeToLiveSpecification }) => TimeToLiveSpecification ?? [],
  );

  expect(timeToLive).toEqual([
    { AttributeName: 'purgeAt', Enabled: true },
    ...Array.from({ length: 4 }, () => ({ AttributeName: 'ttl', Enabled: true })),
  ]);
});

test.each(stageNames)('The API of %s keeps its logical id, on which its address depends', (stage) => {
  const [[id] = []] = resourcesIn(inventoryTemplate(stage), 'AWS::ApiGateway::RestApi');

  expect(id).toBe('ApiRestApiE35FEAFE');
});

const production = readableStage('production');

/** Properties of every resource of a type that no other suite checks. */
const settings: readonly [type: string, properties: object][] = [
  [
    'AWS::ApiGateway::RestApi',
    { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'STRICT' },
  ],
  ['AWS::DynamoDB::Table', { BillingMode: 'PAY_PER_REQUEST' }],
  // Lambda would put its own words before a line that is JSON, and CloudWatch would find no metrics in it.
  [
    'AWS::Lambda::Function',
    { LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO', SystemLogLevel: 'WARN' } },
  ],
  ['AWS::ApiGateway::Stage', { TracingEnabled: true }],
  ['AWS::SQS::Queue', { SqsManagedSseEnabled: true }],
];

test.each(settings)('Every %s has the expected settings', (type, properties) => {
  const found = propertiesOf(production, type, v.unknown()).map(([, one]) => one);

  expect(found).not.toEqual([]);
  for (const one of found) expect(one).toMatchObject(properties);
});

test('The sync reads two batches concurrently; the publisher retries until records expire', () => {
  const mapping = { BatchSize: 100, BisectBatchOnFunctionError: true, StartingPosition: 'TRIM_HORIZON' };
  const stream = { EventSourceArn: '<TablesStock.StreamArn>', FunctionResponseTypes: ['ReportBatchItemFailures'] };

  expect(production).toMatchObject({
    KeySyncQueue: { Properties: { VisibilityTimeout: 1_860, MessageRetentionPeriod: 3_600 } },
    StockEventsUnpublished: { Properties: { MessageRetentionPeriod: 14 * 86_400 } },
    StockEventsBus: { Properties: { Name: '<stage>-Inventory' } },
    StockEventsFunction: { Properties: { TracingConfig: { Mode: 'PassThrough' } } },
    StockEventsStream: { Properties: { ...mapping, ...stream, ParallelizationFactor: 10 } },
  });
  expect(production['StockEventsStream']).not.toHaveProperty('Properties.MaximumRetryAttempts');
  const mappings = propertiesOf(production, 'AWS::Lambda::EventSourceMapping', v.looseObject({}));
  expect(mappings.map(([, { ScalingConfig }]) => ScalingConfig)).toEqual([{ MaximumConcurrency: 2 }, undefined]);
});

const stageSchema = v.object({
  AccessLogSetting: v.object({ Format: v.record(v.string(), v.string()) }),
  MethodSettings: v.array(v.looseObject({})),
});
const [[, apiStage] = []] = propertiesOf(production, 'AWS::ApiGateway::Stage', stageSchema);

test('The access log has no paths, query strings or API keys', () => {
  const sources = Object.values(apiStage?.AccessLogSetting.Format ?? {}).join(' ');

  expect(sources).toMatch(/requestId/);
  expect(sources).not.toMatch(/\.path|apiKey\b|querystring/i);
});

test('Every method is throttled, and none logs the contents of requests', () => {
  const { requestsPerSecond, burst } = stages.production.throttle;
  const ofStage = { ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: burst };

  expect(apiStage?.MethodSettings).toMatchObject([
    { ResourcePath: '/*', ...ofStage, DataTraceEnabled: false },
    // An alarm and a graph are about the one operation that has metrics of its own.
    { ResourcePath: '/~1inventory~1{petId}', ...ofStage, MetricsEnabled: true, DataTraceEnabled: false },
  ]);
});

test('The firewall blocks floods and known attacks, and logs no secret', () => {
  const VisibilityConfig = { SampledRequestsEnabled: false };
  const block = (Name: string, Limit: number) => ({
    Name,
    Action: { Block: {} },
    Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit } },
    VisibilityConfig,
  });
  const managed = (Name: string) => ({ Name, OverrideAction: { None: {} }, VisibilityConfig });
  const headers = ['authorization', 'x-api-key', 'cookie'].map((Name) => ({ SingleHeader: { Name } }));

  expect(production['FirewallAcl']).toMatchObject({
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
  expect(production['FirewallLogging']).toMatchObject({
    Properties: {
      RedactedFields: [...headers, { QueryString: {} }, { UriPath: {} }],
      LoggingFilter: { DefaultBehavior: 'DROP', Filters: [{ Behavior: 'KEEP' }] },
    },
  });
  expect(production['FirewallAcl']).toHaveProperty(
    'Properties.Rules.3.Statement.RateBasedStatement.ScopeDownStatement.NotStatement.Statement.ByteMatchStatement',
    {
      FieldToMatch: { SingleHeader: { Name: 'authorization' } },
      PositionalConstraint: 'STARTS_WITH',
      SearchString: 'bearer ',
      TextTransformations: [{ Priority: 0, Type: 'LOWERCASE' }],
    },
  );
});

test('The firewall does not block the longest query that the contract allows', () => {
  const parameter = v.object({ name: v.string(), schema: v.object({ maxItems: v.number() }) });
  const documentSchema = v.object({ components: v.object({ parameters: v.object({ PetIds: parameter }) }) });
  const json = readFileSync(path.join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8');
  const { name, schema } = v.parse(documentSchema, JSON.parse(json)).components.parameters.PetIds;
  const each = `${name}=${String(-(2n ** 63n))}`;
  const longest = Array.from({ length: schema.maxItems }, () => each).join('&').length;
  const counted = { Name: 'SizeRestrictions_QUERYSTRING', ActionToUse: { Count: {} } };
  const RuleActionOverrides = expect.arrayContaining([counted]);

  // What the rule blocks (https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html).
  expect(longest).toBeGreaterThan(2_048);
  expect(production['FirewallAcl']).toHaveProperty(
    'Properties.Rules.1.Statement.ManagedRuleGroupStatement',
    expect.objectContaining({ RuleActionOverrides }),
  );
});
