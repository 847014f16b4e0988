import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, type ISource, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct, type IDependable } from 'constructs';
import { policyHeader } from '../reference/content-security-policy.ts';
import { type PageFile, pageFiles } from '../reference/page-files.ts';
import type { AnyStageName, Domain, StageSettings } from '../stages.ts';
import { addRecords } from './domains.ts';
import { outdirOf } from './construct-tree.ts';

/** Max age of HTTP Strict Transport Security: two years, as browsers' preload lists require. */
const HTTPS_ONLY = Duration.days(730);

/** The reference page: a private bucket behind CloudFront, and its files. */
export class ReferencePage extends Construct {
  readonly distribution: cloudfront.Distribution;
  readonly #bucket: IBucket;
  readonly #settings: StageSettings;

  constructor(scope: Construct, id: string, settings: StageSettings) {
    super(scope, id);
    const { name, apiDomain, pageDomain } = settings;
    this.#settings = settings;
    this.#bucket = this.#privateBucket();
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: `Pet store API reference (${name})`,
      defaultRootObject: 'index.html',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(this.#bucket, {
          originAccessControl: new cloudfront.S3OriginAccessControl(this, 'AccessControl', {
            originAccessControlName: nameInAccount(name),
          }),
        }),
        cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
        responseHeadersPolicy: this.#headers(name, apiDomain),
        viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      },
      // Without permission to list the bucket, a missing file is 403.
      errorResponses: [
        { httpStatus: 403, responseHttpStatus: 404, responsePagePath: '/index.html', ttl: Duration.minutes(1) },
      ],
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      ...(pageDomain && {
        domainNames: [pageDomain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', pageDomain.certificateArn),
        minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
    });
    if (pageDomain) addRecords(this, pageDomain, new CloudFrontTarget(this.distribution));
  }

  /** CloudFront's own, scheme and host. */
  get origin(): string {
    return `https://${this.distribution.distributionDomainName}`;
  }

  /** Uploads the files, and returns the last upload. Those of earlier builds stay, for pages that are still open. */
  upload(serverUrl: string): IDependable {
    const { name } = this.#settings;
    const files = [...pageFiles({ serverUrl, environment: name })];
    const { fixed = [], pages = [] } = Object.groupBy(files, ([, { immutable }]) => (immutable ? 'fixed' : 'pages'));
    const logGroup = new LogGroup(this, 'Logs');
    const role = this.#uploaderRole(logGroup);
    const everyUpload = {
      destinationBucket: this.#bucket,
      prune: false,
      logGroup,
      // Its default grants would allow reading everything that the CDK has uploaded, and deleting.
      role: role.withoutPolicyUpdates(),
    };
    const assets = new BucketDeployment(this, 'Assets', {
      ...everyUpload,
      sources: [directoryOf(join(outdirOf(this), `${name}-reference`), fixed)],
      cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.days(365)), CacheControl.immutable()],
    });
    assets.node.addDependency(role);
    const lastUpload = new BucketDeployment(this, 'Pages', {
      ...everyUpload,
      // The pages contain the URL of the API, which is known only at deployment.
      sources: pages.map(([path, file]) => Source.data(path, file.read().toString())),
      cacheControl: [CacheControl.setPublic(), CacheControl.maxAge(Duration.minutes(1))],
    });
    // Last, so no page links to a missing file.
    lastUpload.node.addDependency(assets);
    return lastUpload;
  }

  /** The permissions of `aws s3 sync`, from any archive of the CDK: their names change with every release. */
  #uploaderRole(logs: LogGroup): Role {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logs.grantWrite(role);
    const archives = `arn:${Aws.PARTITION}:s3:::cdk-${this.#settings.qualifier}-assets-${Aws.ACCOUNT_ID}-${Aws.REGION}/*.zip`;
    const grants = {
      's3:ListBucket': this.#bucket.bucketArn,
      's3:PutObject': this.#bucket.arnForObjects('*'),
      's3:GetObject': archives,
    };
    for (const [action, resource] of Object.entries(grants))
      role.addToPolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
    return role;
  }

  /** The page's own policy names its API (see page-files.ts). Here, the API's URL would be a circular dependency. */
  #headers(stage: AnyStageName, apiDomain: Domain | undefined): cloudfront.ResponseHeadersPolicy {
    const api = `https://${apiDomain?.name ?? `*.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`}`;
    return new cloudfront.ResponseHeadersPolicy(this, 'Headers', {
      responseHeadersPolicyName: nameInAccount(stage),
      comment: 'Headers of the pet store API reference',
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy: policyHeader(api), override: true },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: cloudfront.HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: HTTPS_ONLY, includeSubdomains: true, override: true },
      },
      customHeadersBehavior: {
        customHeaders: [{ header: 'Cross-Origin-Opener-Policy', value: 'same-origin', override: true }],
      },
    });
  }

  #privateBucket(): IBucket {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they differ only by exactOptionalPropertyTypes
    return new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // Its content can be deployed again.
      removalPolicy: RemovalPolicy.DESTROY,
      autoDeleteObjects: true,
    }) as IBucket;
  }
}

/** Names are unique per account in CloudFront; the CDK's would be the same in every region. */
const nameInAccount = (stage: AnyStageName): string => `${stage}-reference-${Aws.REGION}`;

function directoryOf(directory: string, files: readonly [path: string, PageFile][]): ISource {
  // Of an earlier synthesis.
  rmSync(directory, { recursive: true, force: true });
  for (const [path, file] of files) {
    mkdirSync(join(directory, dirname(path)), { recursive: true });
    writeFileSync(join(directory, path), file.read());
  }
  return Source.asset(directory);
}
