import { CfnOutput } from 'aws-cdk-lib';
import {
  BasePathMapping,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, AaaaRecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { Domain } from '../stages.ts';
import type { InventoryApi } from './inventory-api.ts';

export interface ApiDomainProps {
  readonly domain: Domain;
  readonly api: InventoryApi;
}

/** A name of one's own for the API, with the version as its base path: the base address ends in it as well. */
export class ApiDomain extends Construct {
  constructor(scope: Construct, id: string, { domain, api: { restApi, stageName } }: ApiDomainProps) {
    super(scope, id);
    const domainName = new DomainName(this, 'Name', {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
      endpointAccessMode: EndpointAccessMode.STRICT,
    });
    new BasePathMapping(this, 'BasePath', {
      domainName,
      restApi,
      basePath: stageName,
      stage: restApi.deploymentStage,
    });
    if (domain.hostedZone) {
      const { id: hostedZoneId, name: zoneName } = domain.hostedZone;
      const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName });
      const target = RecordTarget.fromAlias(new ApiGatewayDomain(domainName));
      new ARecord(this, 'Ipv4', { zone, recordName: domain.name, target });
      new AaaaRecord(this, 'Ipv6', { zone, recordName: domain.name, target });
    }
    new CfnOutput(this, 'ApiDomainTarget', { value: domainName.domainNameAliasDomainName }).overrideLogicalId(
      'ApiDomainTarget',
    );
  }
}
