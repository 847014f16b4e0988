import { Annotations, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { exportNames, missingAlarmTargets, type StageSettings, tableNames } from '../stages.ts';
import { TableBackup } from './backup.ts';
import { checkSettings } from './check-settings.ts';
import { ApiDomain, baseUrlAt } from './domains.ts';
import { acknowledgeNoFirewall, Firewall } from './firewall.ts';
import { InventoryApi } from './inventory-api.ts';
import { KeySync } from './key-sync.ts';
import { OperationFunctions } from './operation-functions.ts';
import { CanaryRollout, VersionCheck } from './rollout.ts';
import { stackProps } from './stack-props.ts';
import { StockEvents } from './stock-events.ts';
import { Tables } from './tables.ts';
import { UsagePlans } from './usage-plans.ts';
import { MonitoringMetrics } from './monitoring/metrics.ts';
import { Monitoring } from './monitoring/monitoring.ts';

export interface InventoryStackProps extends StageSettings {
  /** Origin of the reference page, for links of errors and deprecated operations. */
  readonly pageOrigin: string | undefined;
  /** Shift traffic immediately, regardless of `rollout`. */
  readonly allAtOnce: boolean;
}

/** One deployment of the service. */
export class InventoryStack extends Stack {
  constructor(scope: Construct, id: string, settings: InventoryStackProps) {
    const { name, apiDomain } = settings;
    checkSettings(settings);
    super(scope, id, stackProps(settings, 'Pet store inventory service'));
    const warning = missingAlarmTargets(settings);
    if (warning) Annotations.of(this).addWarningV2('pet-store:alarmTargets', warning);

    const tables = new Tables(this, 'Tables', settings);
    if (settings.backup) new TableBackup(this, 'Backup', { ...settings.backup, tables });
    const functions = new OperationFunctions(this, 'Functions', { ...settings, tables });
    const api = new InventoryApi(this, 'Api', { ...settings, functions });
    const { restApi } = api;
    if (apiDomain) new ApiDomain(this, 'Domain', { domain: apiDomain, restApi });
    const stage = restApi.deploymentStage;
    const firewall = settings.firewall && new Firewall(this, 'Firewall', { ...settings, ...settings.firewall, stage });
    if (!firewall) acknowledgeNoFirewall(stage);
    new UsagePlans(this, 'UsagePlans', { ...settings, stage, batchMethod: api.methodOf('updateInventories') });
    const keySync = new KeySync(this, 'KeySync', { ...settings, restApi, tables });
    const { stock } = tables;
    const stockEvents = settings.stockEvents ? new StockEvents(this, 'StockEvents', { ...settings, stock }) : undefined;

    // None for a rollback, which may fix the cause of a failed check.
    const checked = functions.all.concat(stockEvents?.publisher ?? []);
    if (!settings.allAtOnce) new VersionCheck(this, 'VersionCheck', { ...settings, functions: checked });
    const monitored = { api, functions, keySync, stockEvents, tables, firewall };
    const { rollback } = new Monitoring(this, 'Monitoring', { ...monitored, settings });
    const metrics = new MonitoringMetrics(monitored, Duration.minutes(5));
    const canary = { functions: functions.all, alarms: rollback, metrics, allAtOnce: settings.allAtOnce };
    if (settings.rollout === 'canary') new CanaryRollout(this, 'Rollout', canary);

    const gatewayUrl = restApi.urlForPath('/').replace(/\/$/, '');
    new CfnOutput(this, 'BaseUrl', { value: apiDomain ? baseUrlAt(apiDomain) : gatewayUrl });
    new CfnOutput(this, 'GatewayUrl', { value: gatewayUrl, exportName: exportNames.baseUrl(name) });
    new CfnOutput(this, 'ApiId', { value: restApi.restApiId });
    new CfnOutput(this, 'ApiStage', { value: stage.stageName });
    for (const table of tableNames) {
      new CfnOutput(this, `${table.charAt(0).toUpperCase()}${table.slice(1)}TableName`, {
        value: tables.nameOf(table),
      });
    }
  }
}
