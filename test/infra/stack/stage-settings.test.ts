import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { alarmDefinitions } from '../../../infra/stack/monitoring/alarm-table.ts';
import { checkSettings } from '../../../infra/stack/check-settings.ts';
import {
  missingAlarmTargets,
  parseStageName,
  type StageName,
  type StageSettings,
  stageNames,
  stages,
} from '../../../infra/stages.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { propertiesIn, resourcesIn, templateIn } from '../../support/service-template.ts';
import { everything, synthesizedOnce } from '../../support/synthesize-once.ts';

const service = synthesizedOnce();
const assembly = synthesizedOnce('everything');
const inventory = templateIn(assembly, 'production');
const personal = templateIn(synthesizedOnce('personal'), 'dev-ann');

const stacksOf = (stage: StageName) => new CloudAssembly(path.join(service, `assembly-${stage}`)).stacks;

const topic = (name: string) => ({ Ref: expect.stringMatching(`^MonitoringAlarms${name}`) });
const noOne = { emails: [], topicArns: [] };

test.each<[settings: Partial<StageSettings>, message: string]>([
  [{ throttle: { requestsPerSecond: 799, burst: 5_000 } }, 'throttle.requestsPerSecond must be at least 800'],
  [{ maxEnterpriseLimits: { perMinute: 48_001, perDay: 1 } }, 'must be at most 48000'],
  [{ alarms: true, alarmTargets: noOne }, "or set 'nobody'"],
  [{ alarms: true, alarmTargets: { ...everything.alarmTargets, tickets: noOne } }, "or set 'nobody'"],
  [{ alarms: true, gatewayLogs: false }, 'alarms: true requires gatewayLogs: true'],
  [{ firewall: { requestsWithoutKey: 1, requestsPerAddress: 287_999 } }, 'requestsPerAddress must be at least 288000'],
  ...['192.0.2.44', '192.0.2.44/33', '192.0.2.0/0', 'shop/24'].map((one): [Partial<StageSettings>, string] => [
    { firewall: { requestsWithoutKey: 1, blockedAddresses: [one] } },
    `${one}, which is no CIDR range`,
  ]),
  [
    { firewall: { requestsWithoutKey: 1, blockedAddresses: ['2001:db8::/48'] } },
    '2001:db8::/48, but the API has IPv4 addresses only',
  ],
  [{ rollout: 'canary' }, "rollout: 'canary' needs alarms: true"],
  [
    { petDeprecation: { ...stages.staging.petDeprecation, sunsetAt: 'later' } },
    'petDeprecation.sunsetAt must be a time',
  ],
])('The settings check rejects %j: %s', (settings, message) => {
  expect(() => checkSettings({ ...stages.staging, ...settings })).toThrow(message);
});

test('Alarms may have nobody to notify by name; a synthesis without recipients only warns', () => {
  const { production, staging } = stages;
  const [stack] = stacksOf('production');
  const complete = [everything, staging, { ...production, alarmTargets: 'nobody' as const }];

  expect(complete.flatMap((settings) => missingAlarmTargets(settings) ?? [])).toEqual([]);
  expect(stack?.messages.map(({ entry }) => entry.data)).toEqual([expect.stringMatching('have no recipients')]);
});

test.each([
  ['staging', false],
  ['production', true],
] as const)('The stack of %s has cost tags; only production has termination protection', (stage, isProtected) => {
  const tags = { service: 'pet-store-inventory', stage };

  expect(stacksOf(stage)).toMatchObject([
    { stackName: `${stage}-Inventory`, terminationProtection: isProtected, tags },
  ]);
});

describe('a stage with every setting', () => {
  test('serves the API and the page on custom domains, with TLS 1.2 or later', () => {
    const SecurityPolicy = 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09';
    const ViewerCertificate = { MinimumProtocolVersion: 'TLSv1.2_2021' };

    expect(propertiesIn(inventory, 'AWS::ApiGateway::DomainName')).toMatchObject([
      { DomainName: 'api.example.com', SecurityPolicy, EndpointAccessMode: 'STRICT' },
    ]);
    expect(propertiesIn(inventory, 'AWS::ApiGateway::BasePathMapping')).toMatchObject([{ BasePath: 'v1' }]);
    const DefaultCacheBehavior = { ViewerProtocolPolicy: 'redirect-to-https' };
    const CustomErrorResponses = [{ ErrorCode: 403, ResponseCode: 404 }];
    const ofPage = { DefaultCacheBehavior, CustomErrorResponses, ViewerCertificate };
    expect(propertiesIn(inventory, 'AWS::CloudFront::Distribution')).toMatchObject([
      { DistributionConfig: { Aliases: ['docs.example.com'], ...ofPage } },
    ]);
    const SecurityHeadersConfig = { FrameOptions: { FrameOption: 'DENY' } };
    expect(propertiesIn(inventory, 'AWS::CloudFront::ResponseHeadersPolicy')).toMatchObject([
      { ResponseHeadersPolicyConfig: { SecurityHeadersConfig } },
    ]);
    expect(inventory).toMatchObject({
      Outputs: {
        MaxEnterpriseLimits: { Value: JSON.stringify(everything.maxEnterpriseLimits) },
        BaseUrl: { Value: 'https://api.example.com/v1' },
        ReferencePageUrl: { Value: 'https://docs.example.com' },
        // It responds before the records of the domains exist.
        CloudFrontUrl: { Value: { 'Fn::Join': ['', ['https://', expect.anything()]] } },
      },
    });
    // API Gateway has IPv4 addresses only, unlike CloudFront.
    expect(propertiesIn(inventory, 'AWS::Route53::RecordSet').map(({ Type, Name }) => [Type, Name])).toEqual([
      ['A', 'docs.example.com.'],
      ['AAAA', 'docs.example.com.'],
      ['A', 'api.example.com.'],
    ]);
  });

  test('notifies on-call recipients of pages and ticket recipients of tickets, also on recovery', () => {
    const pages = [topic('Topic'), everything.alarmTargets.topicArns[0]];
    const alarms = propertiesIn(inventory, 'AWS::CloudWatch::Alarm').filter(({ AlarmName }) => AlarmName);

    expect(propertiesIn(inventory, 'AWS::SNS::Subscription')).toMatchObject([
      { TopicArn: topic('Topic'), Protocol: 'email', Endpoint: 'oncall@example.com' },
      { TopicArn: topic('TicketTopic'), Protocol: 'email', Endpoint: 'queue@example.com' },
    ]);
    expect(alarms).toHaveLength(alarmDefinitions.length);
    for (const [id, { severity }] of alarmDefinitions) {
      const actions = severity === 'ticket' ? [topic('TicketTopic')] : pages;
      const alarm = alarms.find(({ AlarmName }) => AlarmName === `production-Inventory-${id}`);
      expect(alarm).toMatchObject({ AlarmActions: actions, OKActions: actions });
    }
  });

  test('blocks the configured addresses', () => {
    expect(propertiesIn(inventory, 'AWS::WAFv2::IPSet')).toMatchObject([
      { IPAddressVersion: 'IPV4', Addresses: ['192.0.2.44/32'] },
    ]);
    const rules = resourcesIn(inventory, 'AWS::WAFv2::IPSet').map(([id], index) =>
      expect.objectContaining({
        Priority: 4 + index,
        Action: { Block: {} },
        Statement: { IPSetReferenceStatement: { Arn: { 'Fn::GetAtt': [id, 'Arn'] } } },
      }),
    );
    expect(propertiesIn(inventory, 'AWS::WAFv2::WebACL')).toMatchObject([{ Rules: expect.arrayContaining(rules) }]);
  });

  test('backs up every table each night into the named vault, with a copy in another account', () => {
    const kept = { Lifecycle: { DeleteAfterDays: 35 } };
    const CopyActions = [{ DestinationBackupVaultArn: everything.backup.copyTo, ...kept }];
    const ofRule = { ScheduleExpression: 'cron(0 1 * * ? *)', TargetBackupVault: 'pets-nightly' };
    const BackupPlan = {
      BackupPlanName: 'production-Inventory',
      BackupPlanRule: [{ ...ofRule, CopyActions, ...kept }],
    };
    const tables = resourcesIn(inventory, 'AWS::DynamoDB::Table').map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] }));

    expect(propertiesIn(inventory, 'AWS::Backup::BackupPlan')).toMatchObject([{ BackupPlan }]);
    expect(propertiesIn(inventory, 'AWS::Backup::BackupSelection')).toMatchObject([
      { BackupSelection: { Resources: tables } },
    ]);
    const jobs = ['BackupJobsFailed', 'BackupJobsExpired', 'CopyJobsFailed'].map((name) => ({
      MetricName: `NumberOf${name}`,
      Dimensions: [{ Name: 'BackupVaultName', Value: 'pets-nightly' }],
    }));
    expect(propertiesIn(inventory, 'AWS::CloudWatch::Alarm', 'MonitoringAlarmsFailedBackups')).toMatchObject([
      { Metrics: [{}, {}, ...jobs.map((Metric) => ({ MetricStat: { Metric, Period: 86_400 } }))] },
    ]);
  });

  test('limits the duration and the concurrency of lists', () => {
    const lists = propertiesIn(inventory, 'AWS::Lambda::Function', 'FunctionsList');
    const streamed = propertiesIn(inventory, 'AWS::ApiGateway::Method').filter(
      ({ Integration }) => Object(Integration)['ResponseTransferMode'] === 'STREAM',
    );

    expect(lists).toMatchObject([1, 2].map(() => ({ Timeout: 90, ReservedConcurrentExecutions: 20 })));
    expect(streamed).toMatchObject([1, 2, 3, 4].map(() => ({ Integration: { TimeoutInMillis: 90_000 } })));
  });

  test('keeps every log for the configured retention', () => {
    const kept = propertiesIn(inventory, 'AWS::Logs::LogGroup');

    expect(kept.length).toBeGreaterThan(9);
    for (const logGroup of kept) expect(logGroup).toMatchObject({ RetentionInDays: 90 });
  });
});

test.each(stageNames)('The sunset on %s is at least one year after the deprecation', (stage) => {
  const { deprecatedAt, sunsetAt } = stages[stage].petDeprecation;
  const aYearLater = new Date(deprecatedAt);
  aYearLater.setUTCFullYear(aYearLater.getUTCFullYear() + 1);

  expect(new Date(sunsetAt).getTime()).toBeGreaterThanOrEqual(aYearLater.getTime());
});

// A fixed name would be in use when the stage is deployed again, or a setting goes off and on.
test.each([
  ['A stage with every setting', inventory, ['ApiGateway::Account', 'DynamoDB::Table', 'IAM::Role', 'Lambda::Version']],
  ['A personal stage', personal, ['Lambda::Version']],
])('%s retains nothing with a fixed name: tables, the logging role of all APIs, versions', (_, template, types) => {
  const kept = Object.values(template.Resources).filter(({ DeletionPolicy }) =>
    String(DeletionPolicy).startsWith('Retain'),
  );
  const names = kept.flatMap(({ Properties }) => Object.keys(Properties).filter((name) => name.endsWith('Name')));

  expect([...new Set(kept.map(({ Type }) => Type))].toSorted()).toEqual(types.map((type) => `AWS::${type}`));
  // Versions go with their function.
  expect([...new Set(names)]).toEqual(['FunctionName']);
});

describe('a personal stage', () => {
  test('accepts only names that are valid for all of its resources', () => {
    const names = ['dev-ann', 'dev-fix-12', 'dev-', 'dev--', 'dev-of-eighteen-letters', 'dev-Ann', 'dev-ann/*', 'ann'];

    expect(names.filter((name) => parseStageName(name))).toEqual(['dev-ann', 'dev-fix-12']);
  });

  test('does not change the settings of the account', () => {
    expect(resourcesIn(personal, 'AWS::ApiGateway::Account')).toEqual([]);
    expect(resourcesIn(templateIn(service, 'staging'), 'AWS::ApiGateway::Account')).toHaveLength(1);
  });

  test('has no reference page and no CloudFront, and no response links to a page', () => {
    expect(JSON.stringify(personal)).not.toMatch(/CloudFront|AWS::S3|PAGE_ORIGIN|rel=\\+"help|authorizer\.help/);
  });

  test('shares no resource name with another stage of the account', () => {
    const named = {
      'ApiGateway::RestApi': 'Name',
      'ApiGateway::UsagePlan': 'UsagePlanName',
      'ApiGateway::ApiKey': 'Value',
      'Logs::QueryDefinition': 'Name',
      'XRay::SamplingRule': 'SamplingRule',
    };
    const names = [personal, templateIn(service, 'staging')].flatMap((template) =>
      Object.entries(named).flatMap(([type, property]) =>
        propertiesIn(template, `AWS::${type}`).map((properties) => JSON.stringify(properties[property])),
      ),
    );

    expect(names).toHaveLength(2 * (planIds.length + 15));
    expect(new Set(names).size).toBe(names.length);
  });
});
