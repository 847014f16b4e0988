import { Annotations, Aspects, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import { missingAlarmTargets, type StageSettings } from '../stages.ts';
import { tableNames } from '../tables.ts';
import { TableBackup, Tables } from './tables.ts';
import { checkSettings } from './check-settings.ts';
import { ApiDomain, baseUrlAt, gatewayUrlOf } from './domains.ts';
import { Firewall } from './firewall.ts';
import { InventoryApi } from './inventory-api.ts';
import { KeySync } from './key-sync.ts';
import { OperationFunctions } from './operation-functions.ts';
import { pascalCase } from './pascal-case.ts';
import { ReferencePage } from './reference-page.ts';
import { CanaryRollout, VersionCheck } from './rollout.ts';
import { StockEvents } from './stock-events.ts';
import { UsagePlans } from './usage-plans.ts';
import { Monitoring } from './monitoring/monitoring.ts';

export interface InventoryStackProps extends StageSettings {
  /** Shift traffic immediately in this deployment, and check nothing before. A `rollout` of the stage stays set up. */
  readonly allAtOnce: boolean;
  /** Upload the files of the reference page, if the stage has one. */
  readonly pageFiles: boolean;
}

/** One deployment of the service. */
export class InventoryStack extends Stack {
  constructor(scope: Construct, id: string, settings: InventoryStackProps) {
    const { name, apiDomain, pageDomain } = settings;
    checkSettings(settings);
    super(scope, id, {
      description: `Pet store inventory service (${name})`,
      terminationProtection: settings.retainData,
      // Cost allocation tags, once activated in the billing console. CloudFormation adds them to all resources.
      tags: { service: 'pet-store-inventory', stage: name },
    });
    Aspects.of(this).add({ visit: (node) => expire(node, settings) });
    const warning = missingAlarmTargets(settings);
    if (warning) Annotations.of(this).addWarningV2('pet-store:alarmTargets', warning);

    const tables = new Tables(this, 'Tables', settings);
    if (settings.backup) new TableBackup(this, 'Backup', tables, settings.backup);
    const page = settings.page ? new ReferencePage(this, 'ReferencePage', settings) : undefined;
    // AWS may have to enable CloudFront first: a first deployment that fails there leaves no tables behind.
    if (page) tables.node.addDependency(page.distribution);
    // A page with a domain may be hosted elsewhere.
    const pageOrigin = pageDomain ? `https://${pageDomain.name}` : page?.origin;
    const functions = new OperationFunctions(this, 'Functions', { ...settings, tables, pageOrigin });
    const api = new InventoryApi(this, 'Api', { ...settings, functions, pageOrigin });
    const { restApi } = api;
    const domain = apiDomain && new ApiDomain(this, 'Domain', apiDomain, restApi);
    const stage = restApi.deploymentStage;
    const firewall = settings.firewall && new Firewall(this, 'Firewall', { ...settings, ...settings.firewall, stage });
    new UsagePlans(this, 'UsagePlans', { ...settings, stage, batchMethod: api.methodOf('updateInventories') });
    const keySync = new KeySync(this, 'KeySync', { restApi, tables });
    const stockEvents = settings.stockEvents ? new StockEvents(this, 'StockEvents', tables) : undefined;

    const released = functions.all.concat(stockEvents?.publisher ?? []);
    new VersionCheck(this, 'VersionCheck', { ...settings, functions: released });
    const monitored = { api, functions, keySync, stockEvents, tables, firewall, backup: settings.backup };
    const { rollback } = new Monitoring(this, 'Monitoring', monitored, settings);
    const canary = { functions: functions.all, alarms: rollback, monitored, allAtOnce: settings.allAtOnce };
    if (settings.rollout === 'canary') new CanaryRollout(this, 'Rollout', canary);

    const gatewayUrl = gatewayUrlOf(restApi);
    const baseUrl = apiDomain ? baseUrlAt(apiDomain) : gatewayUrl;
    if (page && settings.pageFiles) {
      const upload = page.upload(baseUrl);
      // Before any traffic shifts: a failed upload ends the deployment there, and rolls back no version in use.
      for (const { live } of functions.all) live.node.defaultChild?.node.addDependency(upload);
    }
    const outputs = {
      BaseUrl: baseUrl,
      GatewayUrl: gatewayUrl,
      ...(page && { ReferencePageUrl: pageOrigin ?? page.origin, CloudFrontUrl: page.origin }),
      ...(domain && { ApiDomainTarget: domain.target }),
      ...(page && pageDomain && { PageDomainTarget: page.distribution.distributionDomainName }),
      ApiId: restApi.restApiId,
      ApiStage: stage.stageName,
      MaxEnterpriseLimits: JSON.stringify(settings.maxEnterpriseLimits),
      ...Object.fromEntries(tableNames.map((table) => [`${pascalCase(table)}TableName`, tables.nameOf(table)])),
    };
    for (const [output, value] of Object.entries(outputs)) new CfnOutput(this, output, { value });
  }
}

/** Log groups have the stage's retention, and are deleted with the stack. */
function expire(node: IConstruct, { logRetentionDays }: StageSettings): void {
  if (!(node instanceof CfnLogGroup)) return;
  node.retentionInDays = logRetentionDays;
  node.applyRemovalPolicy(RemovalPolicy.DESTROY);
}
