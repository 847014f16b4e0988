import { App, Stage } from 'aws-cdk-lib';
import { InventoryStack } from './stack/inventory-stack.ts';
import type { StageSettings } from './stages.ts';

/** Feature flags stand here rather than in cdk.json, so that every way of synthesising makes the same template. */
const featureFlags = {
  '@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId': true,
  '@aws-cdk/aws-apigateway:disableCloudWatchRole': true,
  '@aws-cdk/aws-apigateway:logGroupDestinationArnWithoutWildcard': true,
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-lambda:recognizeLayerVersion': true,
  '@aws-cdk/core:annotationsInValidationReport': true,
  '@aws-cdk/core:checkSecretUsage': true,
  '@aws-cdk/core:enablePartitionLiterals': true,
  '@aws-cdk/core:explicitStackTags': true,
  '@aws-cdk/core:includePrefixInUniqueNameGeneration': true,
  '@aws-cdk/core:target-partitions': ['aws'],
  '@aws-cdk/core:validateAgainstDefaultRules': true,
};

/**
 * The CDK app with one `Inventory` stack per stage.
 *
 * @param outdir where the cloud assembly goes; by default where the CDK CLI wants it
 */
export function createApp(stages: readonly StageSettings[], outdir?: string): App {
  const app = new App({ analyticsReporting: false, context: featureFlags, ...(outdir && { outdir }) });
  for (const settings of stages) {
    new InventoryStack(new Stage(app, settings.name), 'Inventory', settings);
  }
  return app;
}
