import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Stage } from 'aws-cdk-lib';
import { CloudFormationStackArtifact } from 'aws-cdk-lib/cx-api';
import * as v from 'valibot';
import { createApp } from '../../../infra/create-app.ts';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { pageFiles } from '../../../infra/reference/page-files.ts';
import { stages } from '../../../infra/stages.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const outdir = temporaryFolder();
const app = createApp([stages.staging], { outdir });
const stage = app.node.findChild('staging');
if (!Stage.isStage(stage)) throw new Error('The app has no stage');
const { stacks } = stage.synth();

const templateSchema = v.looseObject({
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.unknown()), DependsOn: v.optional(v.unknown()) }),
  ),
  Outputs: v.optional(v.record(v.string(), v.looseObject({ Export: v.optional(v.object({ Name: v.string() })) })), {}),
});

const templateOf = (name: string) =>
  v.parse(templateSchema, stacks.find(({ stackName }) => stackName === `staging-${name}`)?.template);

const site = templateOf('ReferenceSite');
const content = templateOf('ReferenceContent');

/** The properties of the resources of a type. */
const propertiesOf = ({ Resources }: typeof site, type: string): unknown[] =>
  Object.values(Resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));

const statementsOf = (template: typeof site, type: string) =>
  v
    .parse(
      v.array(v.object({ PolicyDocument: v.object({ Statement: v.array(statementSchema) }) })),
      propertiesOf(template, type),
    )
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
const statementSchema = v.looseObject({ Effect: v.string(), Action: v.union([v.string(), v.array(v.string())]) });

const exportsOf = (name: string): string[] =>
  Object.values(templateOf(name).Outputs)
    .flatMap(({ Export }) => Export?.Name ?? [])
    .toSorted();
const importsOf = (name: string): string[] => {
  const found = JSON.stringify(templateOf(name)).matchAll(/\{"Fn::ImportValue":"([^"]+)"\}/g);
  return [...new Set([...found].map(([, imported]) => imported ?? ''))].toSorted();
};

const wildcard = (bucket: string) =>
  `IAM5[Resource::arn:<AWS::Partition>:s3:::${bucket}] at staging/ReferenceContent/Role/DefaultPolicy`;

describe('the stacks of a stage', () => {
  test('are deployed in an order in which each finds what it imports', () => {
    const needed = stacks.map(({ stackName, dependencies }): [string, string[]] => {
      const others = dependencies.filter((artifact) =>
        CloudFormationStackArtifact.isCloudFormationStackArtifact(artifact),
      );
      return [stackName, others.map(({ id }) => id.replace(/[0-9A-F]{8}$/, ''))];
    });

    expect(Object.fromEntries(needed)).toEqual({
      'staging-ReferenceSite': [],
      'staging-Inventory': ['stagingReferenceSite'],
      'staging-ReferenceContent': ['stagingInventory'],
    });
    expect(importsOf('ReferenceSite')).toEqual([]);
    expect(exportsOf('ReferenceSite')).toEqual(['staging-ReferencePageBucket', 'staging-ReferencePageOrigin']);
    expect(importsOf('Inventory')).toEqual(['staging-ReferencePageOrigin']);
    expect(exportsOf('Inventory')).toEqual(['staging-BaseUrl']);
    expect(importsOf('ReferenceContent')).toEqual(['staging-BaseUrl', 'staging-ReferencePageBucket']);
  });

  test('leave the stack of the API as the local host runs it, which is made without them', () => {
    expect(readAssembly(synthesizedOnce()).template).toEqual(templateOf('Inventory'));
  });

  test('have these findings of AwsSolutions acknowledged, each with its reason, and no other', () => {
    const acknowledged = app.node.findAll().flatMap(({ node }) =>
      node.metadata
        .filter(({ type }) => type === 'aws:cdk:acknowledged-rules' && node.path.startsWith('staging/Reference'))
        .flatMap(({ data }) => Object.entries(v.parse(v.record(v.string(), v.string()), data)))
        .filter(([rule]) => rule.startsWith('AwsSolutions'))
        .map(([rule, reason]) => ({ finding: `${rule.replace(/^.*?-/, '')} at ${node.path}`, reason })),
    );
    expect(acknowledged.map(({ finding }) => finding).toSorted()).toEqual([
      'CFR1 at staging/ReferenceSite/Distribution',
      'CFR2 at staging/ReferenceSite/Distribution',
      'CFR3 at staging/ReferenceSite/Distribution',
      'CFR4 at staging/ReferenceSite/Distribution',
      wildcard('cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*.zip'),
      wildcard('staging-ReferencePageBucket/*'),
      'L1 at staging/ReferenceContent/Custom::CDKBucketDeployment8693BB64968944B69AAFB0CC9EB8756C',
      'S1 at staging/ReferenceSite/Bucket',
    ]);
    for (const { reason } of acknowledged) expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});

describe('the site of the reference page', () => {
  test('is a bucket that only its distribution reads, over TLS', () => {
    expect(propertiesOf(site, 'AWS::S3::Bucket')).toEqual([
      expect.objectContaining({
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      }),
    ]);
    expect(statementsOf(site, 'AWS::S3::BucketPolicy')).toMatchObject([
      { Effect: 'Deny', Action: 's3:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      // The function that empties the bucket when the stack goes.
      { Effect: 'Allow', Action: expect.arrayContaining(['s3:DeleteObject*']), Principal: { AWS: expect.anything() } },
      {
        Effect: 'Allow',
        Action: 's3:GetObject',
        Principal: { Service: 'cloudfront.amazonaws.com' },
        Condition: { StringEquals: { 'AWS:SourceArn': expect.anything() } },
      },
    ]);
  });

  test('is served compressed, over HTTPS only, on HTTP/2 and HTTP/3', () => {
    expect(propertiesOf(site, 'AWS::CloudFront::Distribution')).toMatchObject([
      {
        DistributionConfig: {
          DefaultRootObject: 'index.html',
          HttpVersion: 'http2and3',
          DefaultCacheBehavior: {
            AllowedMethods: ['GET', 'HEAD'],
            Compress: true,
            ResponseHeadersPolicyId: { Ref: expect.stringMatching(/^Headers/) },
            ViewerProtocolPolicy: 'redirect-to-https',
          },
          CustomErrorResponses: [{ ErrorCode: 403, ResponseCode: 404, ResponsePagePath: '/index.html' }],
        },
      },
    ]);
    expect(propertiesOf(site, 'AWS::CloudFront::OriginAccessControl')).toMatchObject([
      { OriginAccessControlConfig: { OriginAccessControlOriginType: 's3', SigningBehavior: 'always' } },
    ]);
  });

  test('has other names in every region: CloudFront has one of each in an account', () => {
    const name = { 'Fn::Join': ['', ['staging-reference-', { Ref: 'AWS::Region' }]] };

    expect(propertiesOf(site, 'AWS::CloudFront::OriginAccessControl')).toMatchObject([
      { OriginAccessControlConfig: { Name: name } },
    ]);
    expect(propertiesOf(site, 'AWS::CloudFront::ResponseHeadersPolicy')).toMatchObject([
      { ResponseHeadersPolicyConfig: { Name: name } },
    ]);
  });

  test('has headers that keep the page to itself and to the APIs of its region', () => {
    const [policy] = propertiesOf(site, 'AWS::CloudFront::ResponseHeadersPolicy');
    const apis = ['https://*.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }];

    expect(policy).toMatchObject({
      ResponseHeadersPolicyConfig: {
        SecurityHeadersConfig: {
          ContentSecurityPolicy: { Override: true },
          ContentTypeOptions: { Override: true },
          FrameOptions: { FrameOption: 'DENY' },
          ReferrerPolicy: { ReferrerPolicy: 'no-referrer' },
          StrictTransportSecurity: { AccessControlMaxAgeSec: 63_072_000, IncludeSubdomains: true },
        },
      },
    });
    const text = JSON.stringify(policy);
    expect(text).toContain("default-src 'none'; script-src 'self'; ");
    expect(text).toContain(`connect-src 'self' ${JSON.stringify(apis).slice(2, -1)},"; base-uri 'none'; `);
    expect(text).toContain("frame-ancestors 'none'");
  });

  test('puts out its address', () => {
    const { ReferencePageUrl: address } = site.Outputs;

    expect(JSON.stringify(address)).toMatch(/"https:\/\/",\{"Fn::GetAtt":\["Distribution\w+","DomainName"\]\}/);
  });
});

describe('the files of the reference page', () => {
  const deploymentSchema = v.object({
    SourceObjectKeys: v.array(v.string()),
    SourceMarkers: v.optional(v.array(v.record(v.string(), v.object({ 'Fn::ImportValue': v.string() }))), []),
    SystemMetadata: v.object({ 'cache-control': v.string() }),
    Prune: v.boolean(),
  });
  const deploymentNamed = (name: string) => {
    const found = Object.entries(content.Resources).find(([id]) => id.startsWith(`${name}CustomResource`));
    return { id: found?.[0], dependsOn: found?.[1].DependsOn, ...v.parse(deploymentSchema, found?.[1].Properties) };
  };
  const assets = deploymentNamed('Assets');
  const pages = deploymentNamed('Pages');

  test('are the assets first, for a year, and then the pages that lead to them, for a minute', () => {
    const all = [...pageFiles({ serverUrl: 'https://api.example.com/v1', environment: 'staging' })];
    const immutable = all.filter(([, file]) => file.immutable).map(([name]) => name);
    const changing = all.filter(([, file]) => !file.immutable).map(([name]) => name);

    expect(assets.SystemMetadata).toEqual({ 'cache-control': 'public, max-age=31536000, immutable' });
    expect(assets.SourceObjectKeys.flatMap(filesIn)).toEqual(immutable.toSorted());
    expect(pages.SystemMetadata).toEqual({ 'cache-control': 'public, max-age=60' });
    expect(pages.SourceObjectKeys.flatMap(filesIn).toSorted()).toEqual(changing.toSorted());
    expect(pages.dependsOn).toContain(assets.id);
  });

  test('leave those of earlier releases there', () => {
    expect([assets.Prune, pages.Prune]).toEqual([false, false]);
  });

  test('get the address of the API when they are deployed, and no key', () => {
    const [index = '', openapi = ''] = pages.SourceObjectKeys.map((archive, place) => {
      const text = readFileSync(path.join(folderOf(archive), filesIn(archive)[0] ?? ''), 'utf8');
      const markers = Object.entries(pages.SourceMarkers[place] ?? {});
      return markers.reduce((rest, [marker, value]) => rest.replaceAll(marker, `<${value['Fn::ImportValue']}>`), text);
    });

    expect(index).toContain("connect-src 'self' <staging-BaseUrl>/; ");
    expect(JSON.parse(openapi)).toMatchObject({ servers: [{ url: '<staging-BaseUrl>' }] });
    for (const text of [index, openapi]) expect(text).not.toMatch(/marker:|Token\[|psk_Demo/);
  });

  test('are put there by a function that may do nothing else', () => {
    expect(propertiesOf(content, 'AWS::IAM::Role')).toEqual([{ AssumeRolePolicyDocument: expect.anything() }]);
    expect(statementsOf(content, 'AWS::IAM::Policy').flatMap(({ Action }) => Action)).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      's3:ListBucket',
      's3:PutObject',
      's3:GetObject',
    ]);
  });
});

function folderOf(archive: string): string {
  return path.join(outdir, `asset.${archive.replace('.zip', '')}`);
}

/** The files in an archive of the assembly, where it is a folder still. */
function filesIn(archive: string): string[] {
  const entries = readdirSync(folderOf(archive), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => statSync(path.join(folderOf(archive), entry)).isFile()).toSorted();
}
