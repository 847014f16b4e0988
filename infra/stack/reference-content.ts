import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Duration, Fn, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, type ISource, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Construct } from 'constructs';
import { type PageFile, pageFiles } from '../reference/page-files.ts';
import { exportNames, type StageSettings } from '../stages.ts';
import { acknowledge, acknowledgeCdkFunction } from './acknowledge.ts';
import { baseUrlOf } from './domains.ts';
import { ServiceLogs } from './service-logs.ts';
import { stackProps } from './stack-props.ts';

type File = readonly [path: string, file: PageFile];

/**
 * The files of the reference page in the bucket of its site. Deployed after the API, whose URL they contain.
 * Files of earlier builds stay, for pages that are still open.
 */
export class ReferenceContent extends Stack {
  constructor(scope: Construct, id: string, settings: StageSettings) {
    const { name, logRetentionDays } = settings;
    super(scope, id, stackProps(settings, 'Files of the pet store API reference'));
    const bucketName = exportNames.pageBucket(name);
    const bucket = Bucket.fromBucketName(this, 'Bucket', Fn.importValue(bucketName));
    const files: File[] = [...pageFiles({ serverUrl: baseUrlOf(settings), environment: name })];
    const logGroup = new ServiceLogs(this, 'Logs', { logRetentionDays });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    allowFilling(bucket, role);
    const everyDeployment = {
      destinationBucket: bucket,
      prune: false,
      logGroup,
      // Its default grants would allow reading everything that the CDK has uploaded, and deleting.
      role: role.withoutPolicyUpdates(),
    };

    const assets = new BucketDeployment(this, 'Assets', {
      ...everyDeployment,
      sources: [readable(directoryOf(files.filter(([, { immutable }]) => immutable)), role)],
      cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.days(365)), CacheControl.immutable()],
    });
    assets.node.addDependency(role);
    let before = assets;
    const byType = Map.groupBy(
      files.filter(([, { immutable }]) => !immutable),
      ([, file]) => file.contentType,
    );
    // HTML last, so no page links to a missing file.
    for (const [contentType, pages] of [...byType].toReversed()) {
      const [, subtype] = contentType.split(/\W/);
      const deployment = new BucketDeployment(this, `Pages-${subtype}`, {
        ...everyDeployment,
        // The pages contain the URL of the API, which is known only at deployment.
        sources: pages.map(([path, file]) => readable(Source.data(path, file.read().toString()), role)),
        cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.minutes(1))],
        // The extensions of some do not show it.
        contentType,
      });
      deployment.node.addDependency(before);
      before = deployment;
    }
    this.#acknowledgeFindings(role, bucketName);
  }

  #acknowledgeFindings(role: Role, bucketName: string): void {
    const archives = `cdk-${this.synthesizer.bootstrapQualifier}-assets-<AWS::AccountId>-<AWS::Region>/*.zip`;
    const reasons = {
      [archives]: 'It reads the archives that the CDK uploads, whose names change with every release.',
      [`${bucketName}/*`]:
        'It writes the files of the page, whose names change with every release. The bucket has no others.',
    };
    for (const [resource, reason] of Object.entries(reasons)) {
      const rule = `IAM5[Resource::arn:<AWS::Partition>:s3:::${resource}]`;
      acknowledge(role.node.findChild('DefaultPolicy'), rule, reason);
    }
    for (const construct of this.node.children) {
      if (construct.node.id.startsWith('Custom::CDKBucketDeployment')) acknowledgeCdkFunction(construct);
    }
  }
}

/** The permissions of `aws s3 sync` on its target bucket. */
function allowFilling(bucket: IBucket, role: Role): void {
  role.addToPolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }));
  role.addToPolicy(new PolicyStatement({ actions: ['s3:PutObject'], resources: [bucket.arnForObjects('*')] }));
}

/**
 * The source, readable for the role, like any archive: a policy for only this one would change with every release, and
 * take effect seconds too late.
 */
function readable(source: ISource, role: Role): ISource {
  return {
    bind: (scope, context) => {
      const bound = source.bind(scope, context);
      const archives = bound.bucket.arnForObjects('*.zip');
      role.addToPolicy(new PolicyStatement({ actions: ['s3:GetObject'], resources: [archives] }));
      return bound;
    },
  };
}

function directoryOf(files: readonly File[]): ISource {
  const directory = mkdtempSync(join(tmpdir(), 'reference-page-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  for (const [path, file] of files) {
    mkdirSync(join(directory, dirname(path)), { recursive: true });
    writeFileSync(join(directory, path), file.read());
  }
  return Source.asset(directory);
}
