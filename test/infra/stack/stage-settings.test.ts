import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { type StageSettings, stageNames, stages } from '../../../infra/stages.ts';
import { ApiClient } from '../../support/api-client.ts';
import { issueKey } from '../../support/issue-key.ts';
import { LocalHost } from '../../support/local-host.ts';
import { synthesizedOnce, synthesizeStage } from '../../support/synthesize-once.ts';
import { resourcesOf, synthesizedStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const certificate = (region: string) => `arn:aws:acm:${region}:111122223333:certificate/6f3a2c1e`;
const hostedZone = { id: 'Z0123456789EXAMPLE', name: 'example.com' };

/** A stage that has all there is to have. */
const everything: StageSettings = {
  ...stages.production,
  name: 'staging',
  logRetentionDays: 90,
  alarmTargets: {
    emails: ['oncall@example.com'],
    topicArns: ['arn:aws:sns:eu-central-1:111122223333:pager'],
  },
  apiDomain: { name: 'api.example.com', certificateArn: certificate('eu-central-1'), hostedZone },
  pageDomain: { name: 'docs.example.com', certificateArn: certificate('us-east-1'), hostedZone },
};

const templateSchema = v.looseObject({
  Resources: v.record(v.string(), v.looseObject({ Type: v.string(), Properties: v.optional(v.unknown()) })),
  Outputs: v.optional(v.record(v.string(), v.looseObject({ Value: v.unknown() })), {}),
});
type Template = v.InferOutput<typeof templateSchema>;

function templatesIn(folder: string): Map<string, Template> {
  const stageFolder = path.join(folder, 'assembly-staging');
  const files = readdirSync(stageFolder).filter((file) => file.endsWith('.template.json'));
  return new Map(
    files.map((file) => [
      /^staging(\w+)[0-9A-F]{8}\./.exec(file)?.[1] ?? file,
      v.parse(templateSchema, JSON.parse(readFileSync(path.join(stageFolder, file), 'utf8'))),
    ]),
  );
}

/** What a stack exports: name and value, without the hashes in which a setting shows. */
const exportsOf = (template: Template | undefined): string[] =>
  Object.values(template?.Outputs ?? {})
    .filter((output) => 'Export' in output)
    .map((output) => JSON.stringify(output));

const propertiesOf = (template: Template | undefined, type: string): unknown[] =>
  Object.values(template?.Resources ?? {}).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));

describe('a stage with every setting', () => {
  const folder = temporaryFolder();
  synthesizeStage(folder, everything, { referencePage: true });
  const templates = templatesIn(folder);
  const inventory = templates.get('Inventory');
  const site = templates.get('ReferenceSite');

  test('has the API at its own name alone, with TLS 1.2 or 1.3', () => {
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
  });

  test('has a base address that ends in the version', () => {
    expect(inventory?.Outputs.BaseUrl?.Value).toBe('https://api.example.com/v1');
    expect(propertiesOf(inventory, 'AWS::ApiGateway::BasePathMapping')).toMatchObject([{ BasePath: 'v1' }]);
  });

  test('tells the other stacks what a stage without names of its own does: CloudFormation would not let it change', () => {
    const own = templatesIn(synthesizedOnce());
    for (const name of ['Inventory', 'ReferenceSite']) {
      expect(exportsOf(templates.get(name))).toEqual(exportsOf(own.get(name)));
      expect(exportsOf(own.get(name))).not.toEqual([]);
    }
  });

  test('has the records of both names in their zone', () => {
    for (const [template, name] of [
      [inventory, 'api.example.com.'],
      [site, 'docs.example.com.'],
    ] as const) {
      const records = propertiesOf(template, 'AWS::Route53::RecordSet');
      expect(records).toMatchObject(
        ['A', 'AAAA'].map((type) => ({ Name: name, Type: type, HostedZoneId: hostedZone.id })),
      );
    }
  });

  test('has the page at its own name, from which browsers may call the API, and TLS 1.2 at least', () => {
    expect(propertiesOf(site, 'AWS::CloudFront::Distribution')).toMatchObject([
      {
        DistributionConfig: {
          Aliases: ['docs.example.com'],
          ViewerCertificate: {
            AcmCertificateArn: everything.pageDomain?.certificateArn,
            MinimumProtocolVersion: 'TLSv1.2_2021',
          },
        },
      },
    ]);
    expect(site?.Outputs.ReferencePageUrl?.Value).toBe('https://docs.example.com');
    expect(JSON.stringify(propertiesOf(site, 'AWS::CloudFront::ResponseHeadersPolicy'))).toContain(
      "connect-src 'self' https://api.example.com;",
    );
  });

  test('tells everybody of its alarms who is to be told', () => {
    expect(propertiesOf(inventory, 'AWS::SNS::Subscription')).toMatchObject([
      { Protocol: 'email', Endpoint: 'oncall@example.com' },
    ]);
    const alarms = propertiesOf(inventory, 'AWS::CloudWatch::Alarm');
    expect(alarms.length).toBeGreaterThan(8);
    for (const alarm of alarms) {
      const actions = [{ Ref: expect.stringMatching(/^MonitoringAlarmsTopic/) }, everything.alarmTargets.topicArns[0]];
      expect(alarm).toMatchObject({ AlarmActions: actions, OKActions: actions });
    }
  });

  test('keeps every log as long as it says', () => {
    const kept = [...templates.values()].flatMap((template) => propertiesOf(template, 'AWS::Logs::LogGroup'));

    expect(kept.length).toBeGreaterThan(9);
    for (const logGroup of kept) expect(logGroup).toMatchObject({ RetentionInDays: 90 });
  });

  describe('on a laptop', () => {
    let host: LocalHost;

    beforeAll(async () => {
      host = await LocalHost.start({ assembly: folder });
    });

    afterAll(() => host.close());

    test('serves as any other', async () => {
      const { token } = await issueKey(host);

      expect(await ApiClient.withKey(host.baseUrl, token).list()).toMatchObject({ status: 200 });
    });
  });
});

describe('the base address of an API without a name of its own', () => {
  const synthesized = synthesizedStages();

  test.each(stageNames)('on %s ends in the version as well', (stage) => {
    const { template } = synthesized[stage];

    expect(JSON.stringify(template.Outputs.BaseUrl?.Value)).toMatch(
      /"\/",\{"Ref":"ApiRestApiDeploymentStagev1\w+"\}\]\]\}$/,
    );
    expect(
      resourcesOf(synthesized[stage], 'AWS::ApiGateway::Stage', v.looseObject({ StageName: v.string() })),
    ).toMatchObject([{ properties: { StageName: 'v1' } }]);
  });

  test.each(stageNames)('on %s takes TLS 1.2 and 1.3 only', (stage) => {
    expect(resourcesOf(synthesized[stage], 'AWS::ApiGateway::RestApi', v.unknown())).toMatchObject([
      { properties: { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'STRICT' } },
    ]);
  });
});

test('Production keeps its tables and refuses to delete them; staging does not', () => {
  const synthesized = synthesizedStages();
  const protectionOf = (stage: 'staging' | 'production') =>
    resourcesOf(
      synthesized[stage],
      'AWS::DynamoDB::Table',
      v.looseObject({ DeletionProtectionEnabled: v.boolean() }),
    ).map(({ properties }) => properties.DeletionProtectionEnabled);

  expect(protectionOf('production')).toEqual(Array.from({ length: 5 }, () => true));
  expect(protectionOf('staging')).toEqual(Array.from({ length: 5 }, () => false));
});
