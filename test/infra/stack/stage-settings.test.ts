import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { parseStageName, settingsOf, type StageSettings, stageNames, stages } from '../../../infra/stages.ts';
import { synthesizeApps, synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const certificate = (region: string) => `arn:aws:acm:${region}:111122223333:certificate/6f3a2c1e`;
const hostedZone = { id: 'Z0123456789EXAMPLE', name: 'example.com' };
const pager = 'arn:aws:sns:eu-central-1:111122223333:pager';

/** Staging with all that a stage can have beside; its rollout is that of production. */
const everything: StageSettings = {
  ...stages.staging,
  backup: { copyTo: 'arn:aws:backup:eu-west-1:444455556666:backup-vault:pets' },
  logRetentionDays: 90,
  alarms: true,
  alarmTargets: { emails: ['oncall@example.com'], topicArns: [pager] },
  dashboard: true,
  firewall: { requestsWithoutKey: 2_000 },
  lists: { seconds: 90, concurrency: 20 },
  apiDomain: { name: 'api.example.com', certificateArn: certificate('eu-central-1'), hostedZone },
  pageDomain: { name: 'docs.example.com', certificateArn: certificate('us-east-1'), hostedZone },
  gatewayAddress: 'off',
};

const templateSchema = v.looseObject({
  Resources: v.record(v.string(), v.looseObject({ Type: v.string(), Properties: v.optional(v.looseObject({}), {}) })),
  Outputs: v.optional(v.record(v.string(), v.looseObject({ Value: v.unknown() })), {}),
});
type Template = v.InferOutput<typeof templateSchema>;

function templateIn(
  assembly: string,
  stack: 'Inventory' | 'ReferenceSite' | 'ReferenceContent',
  stage = 'staging',
): Template {
  const folder = path.join(assembly, `assembly-${stage}`);
  const prefix = `${stage.replaceAll('-', '')}${stack}`;
  const file = readdirSync(folder).find((name) => name.startsWith(prefix) && /\.template\./.test(name));
  return v.parse(templateSchema, JSON.parse(readFileSync(path.join(folder, file ?? stack), 'utf8')));
}

const resourcesOf = ({ Resources }: Template, type: string, idPrefix = '') =>
  Object.entries(Resources).filter(([id, { Type }]) => Type === type && id.startsWith(idPrefix));
const propertiesOf = (template: Template, type: string, idPrefix = '') =>
  resourcesOf(template, type, idPrefix).map(([, { Properties }]) => Properties);

const recordsIn = (template: Template): string[] =>
  propertiesOf(template, 'AWS::Route53::RecordSet').map(({ Type, Name }) => `${String(Type)} ${String(Name)}`);

/** The names of the archives of the functions, and of the assets of the reference page. */
const archivesIn = (assembly: string) => [
  ...propertiesOf(templateIn(assembly, 'Inventory'), 'AWS::Lambda::Function').map(({ Code }) => Code),
  ...propertiesOf(templateIn(assembly, 'ReferenceContent'), 'Custom::CDKBucketDeployment', 'Assets').map(
    ({ SourceObjectKeys }) => SourceObjectKeys,
  ),
];

/** Settings that cannot be, with what is said of them before anything is deployed. */
const refused: readonly [what: string, settings: Partial<StageSettings>, message: string][] = [
  [
    'a throttle that refuses what a customer may send',
    { throttle: { requestsPerSecond: 799, burst: 5_000 } },
    'throttle.requestsPerSecond must be 800 at least',
  ],
  ['more than a key takes', { mostForEnterprise: { perMinute: 48_001, perDay: 1 } }, 'must be 48000 at most'],
  [
    'alarms that nobody is told of, and no word that this is meant',
    { alarms: true, alarmTargets: { emails: [], topicArns: [] } },
    "alarmTargets names nobody: add an e-mail address or a topic, or say 'nobody'",
  ],
  [
    'a bound of the firewall below what one customer may send',
    { firewall: { requestsWithoutKey: 2_000, requestsPerAddress: 287_999 } },
    'firewall.requestsPerAddress must be 288000 at least',
  ],
  ['no address at all', { gatewayAddress: 'off' }, "gatewayAddress: 'off' needs an apiDomain"],
  ['a canary without alarms', { rollout: 'canary' }, "rollout: 'canary' needs alarms: true"],
  [
    'a deprecation that is no time',
    { petDeprecation: { deprecatedAt: 'soon', sunsetAt: 'later' } },
    '"soon" is not a time in ISO 8601',
  ],
];

const personalNames = ['dev-ann', 'dev-bo'] as const;
const personal = [...personalNames.map((name) => settingsOf(name)), stages.staging];

const folder = temporaryFolder();
const inPersonal = (stage: string) => templateIn(path.join(folder, 'personal'), 'Inventory', stage);
let refusals: Readonly<Record<string, string>>;

beforeAll(() => {
  const wrong = refused.map(([what, settings]) => [what, [{ ...stages.staging, ...settings }]] as const);
  const right = { everything: [everything], 'without page': [{ ...stages.staging, page: false }], personal };
  refusals = synthesizeApps(folder, { ...right, ...Object.fromEntries(wrong) }, { referencePage: true });
}, 60_000);

describe('a stage with every setting', () => {
  const assembly = path.join(folder, 'everything');
  let inventory: Template;
  let site: Template;

  beforeAll(() => {
    inventory = templateIn(assembly, 'Inventory');
    site = templateIn(assembly, 'ReferenceSite');
  });

  test('has the API at its own name alone, with TLS 1.2 or 1.3 and the version at the end of its address', () => {
    expect(propertiesOf(inventory, 'AWS::ApiGateway::DomainName')).toEqual([
      {
        DomainName: 'api.example.com',
        EndpointConfiguration: { Types: ['REGIONAL'] },
        RegionalCertificateArn: everything.apiDomain?.certificateArn,
        SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
        EndpointAccessMode: 'STRICT',
      },
    ]);
    expect(propertiesOf(inventory, 'AWS::ApiGateway::RestApi')).toMatchObject([{ DisableExecuteApiEndpoint: true }]);
    expect(propertiesOf(inventory, 'AWS::ApiGateway::BasePathMapping')).toMatchObject([{ BasePath: 'v1' }]);
    expect(inventory.Outputs['BaseUrl']?.Value).toBe('https://api.example.com/v1');
    expect(recordsIn(inventory)).toEqual(['A api.example.com.', 'AAAA api.example.com.']);
  });

  test('has the page at its own name, with TLS 1.2 at least', () => {
    expect(propertiesOf(site, 'AWS::CloudFront::Distribution')).toMatchObject([
      {
        DistributionConfig: {
          Aliases: ['docs.example.com'],
          ViewerCertificate: { MinimumProtocolVersion: 'TLSv1.2_2021' },
        },
      },
    ]);
    expect(site.Outputs['ReferencePageUrl']?.Value).toBe('https://docs.example.com');
    expect(recordsIn(site)).toEqual(['A docs.example.com.', 'AAAA docs.example.com.']);
    expect(JSON.stringify(propertiesOf(site, 'AWS::CloudFront::ResponseHeadersPolicy'))).toContain(
      "connect-src 'self' https://api.example.com;",
    );
  });

  test.each(['Inventory', 'ReferenceSite'] as const)(
    'exports from %s what a stage without names of its own does: CloudFormation would not let it change',
    (stack) => {
      const exportsIn = (from: string) =>
        Object.values(templateIn(from, stack).Outputs).filter((output) => 'Export' in output);

      expect(exportsIn(assembly)).toEqual(exportsIn(synthesizedOnce()));
      expect(exportsIn(assembly)).not.toEqual([]);
    },
  );

  test('tells everybody of each alarm who is to be told, and of its end', () => {
    const actions = [{ Ref: expect.stringMatching(/^MonitoringAlarmsTopic/) }, pager];
    const alarms = propertiesOf(inventory, 'AWS::CloudWatch::Alarm');

    expect(propertiesOf(inventory, 'AWS::SNS::Subscription')).toMatchObject([
      { Protocol: 'email', Endpoint: 'oncall@example.com' },
    ]);
    expect(alarms.length).toBeGreaterThan(8);
    for (const alarm of alarms) expect(alarm).toMatchObject({ AlarmActions: actions, OKActions: actions });
  });

  test('backs up every table each night, here and in another account', () => {
    const kept = { Lifecycle: { DeleteAfterDays: 35 } };
    const CopyActions = [{ DestinationBackupVaultArn: everything.backup?.copyTo, ...kept }];
    const BackupPlanRule = [{ ScheduleExpression: 'cron(0 1 * * ? *)', CopyActions, ...kept }];
    const tables = resourcesOf(inventory, 'AWS::DynamoDB::Table').map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] }));

    expect(propertiesOf(inventory, 'AWS::Backup::BackupPlan')).toMatchObject([{ BackupPlan: { BackupPlanRule } }]);
    expect(propertiesOf(inventory, 'AWS::Backup::BackupSelection')).toMatchObject([
      { BackupSelection: { Resources: tables } },
    ]);
    expect(resourcesOf(inventory, 'AWS::Backup::BackupVault')).toMatchObject([
      [expect.anything(), { DeletionPolicy: 'Retain' }],
    ]);
  });

  test('has lists that end, and hold so many functions at most', () => {
    const lists = propertiesOf(inventory, 'AWS::Lambda::Function', 'FunctionsList');
    const streamed = propertiesOf(inventory, 'AWS::ApiGateway::Method').filter(
      ({ Integration }) => Object(Integration)['ResponseTransferMode'] === 'STREAM',
    );

    expect(lists).toMatchObject([1, 2].map(() => ({ Timeout: 90, ReservedConcurrentExecutions: 20 })));
    expect(streamed).toMatchObject([1, 2, 3, 4].map(() => ({ Integration: { TimeoutInMillis: 90_000 } })));
  });

  test('keeps every log as long as it says', () => {
    const kept = [inventory, site, templateIn(assembly, 'ReferenceContent')].flatMap((template) =>
      propertiesOf(template, 'AWS::Logs::LogGroup'),
    );

    expect(kept.length).toBeGreaterThan(9);
    for (const logGroup of kept) expect(logGroup).toMatchObject({ RetentionInDays: 90 });
  });

  test('has the same code as any other synthesis: a deploy without a change changes nothing', () => {
    expect(archivesIn(assembly)).toEqual(archivesIn(synthesizedOnce()));
    expect(archivesIn(assembly).length).toBeGreaterThan(7);
  });
});

test('A stage without a page has no CloudFront, and no answer leads to a page', () => {
  const stage = path.join(folder, 'without page/assembly-staging');
  const files = readdirSync(stage).filter((file) => file.endsWith('.template.json'));
  const text = readFileSync(path.join(stage, files[0] ?? ''), 'utf8');

  expect(files).toEqual([expect.stringMatching(/^stagingInventory/)]);
  expect(text).not.toMatch(/Fn::ImportValue|PAGE_ORIGIN|rel=\\"help|authorizer\.help/);
});

test.each(refused)('Refused before anything is deployed: %s', (what, _, message) => {
  expect(refusals[what]).toContain(message);
});

test.each(stageNames)('Clients of %s have a year from the day that a deprecation was announced', (stage) => {
  const { deprecatedAt, sunsetAt } = stages[stage].petDeprecation;
  const aYearLater = new Date(deprecatedAt);
  aYearLater.setUTCFullYear(aYearLater.getUTCFullYear() + 1);

  expect(new Date(sunsetAt).getTime()).toBeGreaterThanOrEqual(aYearLater.getTime());
});

describe('a personal stage', () => {
  test('has a name that all that is called after it can have', () => {
    const names = ['dev-ann', 'dev-fix-12', 'dev-', 'dev--', 'dev-of-eighteen-letters', 'dev-Ann', 'dev-ann/*', 'ann'];

    expect(names.filter((name) => parseStageName(name))).toEqual(['dev-ann', 'dev-fix-12']);
  });

  test('leaves nothing when it goes, and leaves the settings of the account as they are', () => {
    const { Resources } = inPersonal('dev-ann');
    const kept = Object.values(Resources).filter((resource) =>
      /Retain/.test(JSON.stringify(resource['DeletionPolicy'])),
    );

    // Versions go with their function.
    expect(new Set(kept.map(({ Type }) => Type))).toEqual(new Set(['AWS::Lambda::Version']));
    expect(resourcesOf(inPersonal('dev-ann'), 'AWS::ApiGateway::Account')).toEqual([]);
    expect(resourcesOf(inPersonal('staging'), 'AWS::ApiGateway::Account')).toHaveLength(1);
  });

  test('has no name in common with another stage of the account', () => {
    const named = {
      'ApiGateway::RestApi': 'Name',
      'ApiGateway::UsagePlan': 'UsagePlanName',
      'ApiGateway::ApiKey': 'Value',
    };
    const others = { 'Logs::QueryDefinition': 'Name', 'XRay::SamplingRule': 'SamplingRule' };
    const names = [...personalNames, 'staging'].flatMap((stage) =>
      Object.entries({ ...named, ...others }).flatMap(([type, property]) =>
        propertiesOf(inPersonal(stage), `AWS::${type}`).map((properties) => properties[property]),
      ),
    );

    expect(names).toHaveLength(3 * 18);
    expect(new Set(names.map((name) => JSON.stringify(name))).size).toBe(names.length);
  });
});
