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
};

export interface AppOptions {
  /** Where the cloud assembly goes; by default where the CDK CLI wants it. */
  readonly outdir?: string;
  /** Check the templates against the built-in CloudFormation rules. It takes longer than all the rest. */
  readonly validate?: boolean;
}

/** The CDK app with one `Inventory` stack per stage. */
export function createApp(stages: readonly StageSettings[], { outdir, validate = false }: AppOptions = {}): App {
  const context = { ...featureFlags, '@aws-cdk/core:validateAgainstDefaultRules': validate };
  const app = new App({ analyticsReporting: false, context, ...(outdir !== undefined && { outdir }) });
  for (const settings of stages) {
    new InventoryStack(new Stage(app, settings.name), 'Inventory', settings);
  }
  return app;
}
