import { Aws } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, AaaaRecord, HostedZone, type IAliasRecordTarget, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain, CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { API_VERSION } from '../../shared/contract/records.ts';
import type { Domain } from '../stages.ts';

/** The version segment at the end of every base URL: the stage of the API, and its base path. */
export const VERSION_SEGMENT = `v${API_VERSION.split('.')[0]}`;

/** Base URL of an API with a custom domain. */
export const baseUrlAt = ({ name }: Domain): string => `https://${name}/${VERSION_SEGMENT}`;

/** API Gateway's base URL. It depends on the API alone, not on its stage, whose URL `restApi.url` is. */
export const gatewayUrlOf = ({ restApiId }: apigateway.RestApi): string =>
  `https://${restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${VERSION_SEGMENT}`;

/** Creates the DNS records of a custom domain, if its zone is known. The API has IPv4 addresses only (security.md). */
export function addRecords(scope: Construct, { name, hostedZone }: Domain, alias: IAliasRecordTarget): void {
  if (!hostedZone) return;
  const attributes = { hostedZoneId: hostedZone.id, zoneName: hostedZone.name };
  const zone = HostedZone.fromHostedZoneAttributes(scope, 'Zone', attributes);
  const target = RecordTarget.fromAlias(alias);
  new ARecord(scope, 'Ipv4', { zone, recordName: name, target });
  if (alias instanceof CloudFrontTarget) new AaaaRecord(scope, 'Ipv6', { zone, recordName: name, target });
}

/** A custom domain of the API, with the version as its base path, as in the base URL. */
export class ApiDomain extends Construct {
  /** Where its DNS record leads. */
  readonly target: string;

  constructor(scope: Construct, id: string, domain: Domain, restApi: apigateway.RestApi) {
    super(scope, id);
    const domainName = new apigateway.DomainName(this, 'Name', {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      endpointType: apigateway.EndpointType.REGIONAL,
      securityPolicy: apigateway.SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
      endpointAccessMode: apigateway.EndpointAccessMode.STRICT,
    });
    const stage = restApi.deploymentStage;
    new apigateway.BasePathMapping(this, 'BasePath', { domainName, restApi, basePath: VERSION_SEGMENT, stage });
    addRecords(this, domain, new ApiGatewayDomain(domainName));
    this.target = domainName.domainNameAliasDomainName;
  }
}
