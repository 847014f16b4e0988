import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';
import { exportNames } from './exports.ts';
import { InventoryApi } from './inventory-api.ts';
import { KeySync } from './key-sync.ts';
import { OperationFunctions } from './operation-functions.ts';
import { Tables } from './tables.ts';
import { internalIdentifier, UsagePlans } from './usage-plans.ts';

export interface InventoryStackProps extends StageSettings {
  /** Origin of the reference page, whose try-it calls the API from a browser. */
  readonly pageOrigin: string;
}

/** One deployment of the service. */
export class InventoryStack extends Stack {
  constructor(scope: Construct, id: string, { name, retainData, petDeprecation, pageOrigin }: InventoryStackProps) {
    super(scope, id, { description: `Pet store inventory service (${name})` });

    const tables = new Tables(this, 'Tables', { retainData });
    const functions = new OperationFunctions(this, 'Functions', {
      tables,
      petDeprecation,
      pageOrigin,
      overflowIdentifier: internalIdentifier(this, 'Overflow'),
      interimIdentifier: internalIdentifier(this, 'Interim'),
    });
    const { restApi } = new InventoryApi(this, 'Api', { name: `Pet store inventory (${name})`, functions, pageOrigin });
    new UsagePlans(this, 'UsagePlans', { stage: restApi.deploymentStage });
    new KeySync(this, 'KeySync', { restApi, keysTable: tables.keys });

    new CfnOutput(this, 'BaseUrl', {
      value: restApi.urlForPath('/').replace(/\/$/, ''),
      exportName: exportNames.baseUrl(name),
    });
    new CfnOutput(this, 'ApiId', { value: restApi.restApiId });
    new CfnOutput(this, 'ApiStage', { value: restApi.deploymentStage.stageName });
    new CfnOutput(this, 'StockTableName', { value: tables.stock.tableName });
    new CfnOutput(this, 'KeysTableName', { value: tables.keys.tableName });
    new CfnOutput(this, 'PetsTableName', { value: tables.pets.tableName });
    new CfnOutput(this, 'OrdersTableName', { value: tables.orders.tableName });
  }
}
