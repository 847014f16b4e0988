import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Aws, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { policyHeader } from '../reference/content-security-policy.ts';
import { type AnyStageName, type Domain, exportNames, type StageSettings } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import { addRecords } from './domains.ts';
import { stackProps } from './stack-props.ts';

/** Max age of HTTP Strict Transport Security: two years, as browsers' preload lists require. */
const HTTPS_ONLY = Duration.days(730);

/**
 * The site of the reference page: a private bucket behind CloudFront, empty until the page is deployed. It precedes
 * the API, whose deprecated operations link to it.
 */
export class ReferenceSite extends Stack {
  constructor(scope: Construct, id: string, settings: StageSettings) {
    const { name, apiDomain, pageDomain } = settings;
    super(scope, id, stackProps(settings, 'Site of the pet store API reference'));

    const bucket = privateBucket(this);
    acknowledge(bucket, 'S1', 'Only CloudFront reads it, and its content is public.');

    const distribution = new Distribution(this, 'Distribution', {
      comment: `Pet store API reference (${name})`,
      defaultRootObject: 'index.html',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket, {
          originAccessControl: new S3OriginAccessControl(this, 'AccessControl', {
            originAccessControlName: nameInAccount(name),
          }),
        }),
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        responseHeadersPolicy: this.#headers(name, apiDomain),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        compress: true,
      },
      // Without permission to list the bucket, a missing file is 403.
      errorResponses: [
        { httpStatus: 403, responseHttpStatus: 404, responsePagePath: '/index.html', ttl: Duration.minutes(1) },
      ],
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(pageDomain && {
        domainNames: [pageDomain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', pageDomain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
    });
    acknowledgeFindings(distribution, pageDomain !== undefined);
    if (pageDomain) {
      new CfnOutput(this, 'PageDomainTarget', { value: distribution.distributionDomainName });
      addRecords(this, pageDomain, new CloudFrontTarget(distribution));
    }

    const origin = `https://${distribution.distributionDomainName}`;
    new CfnOutput(this, 'ReferencePageUrl', { value: pageDomain ? `https://${pageDomain.name}` : origin });
    new CfnOutput(this, 'CloudFrontOrigin', { value: origin, exportName: exportNames.pageOrigin(name) });
    new CfnOutput(this, 'BucketName', { value: bucket.bucketName, exportName: exportNames.pageBucket(name) });
  }

  /** The page's own policy names its API (see page-files.ts); this stack does not know its URL yet. */
  #headers(stage: AnyStageName, apiDomain: Domain | undefined): ResponseHeadersPolicy {
    const api = `https://${apiDomain?.name ?? `*.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`}`;
    return new ResponseHeadersPolicy(this, 'Headers', {
      responseHeadersPolicyName: nameInAccount(stage),
      comment: 'Headers of the pet store API reference',
      securityHeadersBehavior: {
        contentSecurityPolicy: {
          contentSecurityPolicy: policyHeader(api),
          override: true,
        },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: HTTPS_ONLY, includeSubdomains: true, override: true },
      },
      customHeadersBehavior: {
        customHeaders: [{ header: 'Cross-Origin-Opener-Policy', value: 'same-origin', override: true }],
      },
    });
  }
}

/** Names are unique per account in CloudFront; the CDK's would be the same in every region. */
const nameInAccount = (stage: AnyStageName): string => `${stage}-reference-${Aws.REGION}`;

function privateBucket(scope: Construct): IBucket {
  const bucket = new Bucket(scope, 'Bucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    // Its content can be deployed again.
    removalPolicy: RemovalPolicy.DESTROY,
    autoDeleteObjects: true,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they differ only by exactOptionalPropertyTypes
  return bucket as IBucket;
}

function acknowledgeFindings(distribution: Distribution, hasOwnDomain: boolean): void {
  const reasons = {
    CFR1: 'The reference is for API users in all countries.',
    CFR2: 'Static files without input: a firewall would have nothing to inspect.',
    CFR3: 'Public files without secrets; the API logs the relevant requests.',
    ...(!hasOwnDomain && {
      CFR4: "With CloudFront's default certificate, CloudFront chooses the min TLS version; a custom domain allows to set it.",
    }),
  };
  for (const [rule, reason] of Object.entries(reasons)) acknowledge(distribution, rule, reason);
}
