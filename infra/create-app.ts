import { App, BOOTSTRAP_QUALIFIER_CONTEXT, Stage } from 'aws-cdk-lib';
import { CURRENT_VERSION_FLAG_DEFAULTS, CURRENTLY_RECOMMENDED_FLAGS } from 'aws-cdk-lib/cx-api';
import { pageOriginOf } from './stack/domains.ts';
import { InventoryStack } from './stack/inventory-stack.ts';
import { ReferenceContent } from './stack/reference-content.ts';
import { ReferenceSite } from './stack/reference-site.ts';
import { parseStageName, settingsOf, STAGE_NAMES, type StageSettings } from './stages.ts';

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

/** The other flags, each with the value that it has where it is not set: the CDK CLI would count them at each synthesis. */
const otherFlags = Object.fromEntries(
  Object.keys(CURRENTLY_RECOMMENDED_FLAGS).map((flag) => [flag, CURRENT_VERSION_FLAG_DEFAULTS[flag] ?? false]),
);

export interface AppOptions {
  /** Where the cloud assembly goes; by default where the CDK CLI wants it. */
  readonly outdir?: string;
  /** Check the templates against the built-in CloudFormation rules. It takes longer than all the rest. */
  readonly validate?: boolean;
  /** Make the stacks of the reference page too. Without them the API's own is the same, and is there sooner. */
  readonly referencePage?: boolean;
}

/** The CDK app: per stage the site of the reference page, the API, and the page's files. */
export function createApp(
  stages: readonly StageSettings[],
  { outdir, validate = false, referencePage = true }: AppOptions = {},
): App {
  const context = { ...otherFlags, ...featureFlags, '@aws-cdk/core:validateAgainstDefaultRules': validate };
  const app = new App({ analyticsReporting: false, context, ...(outdir !== undefined && { outdir }) });
  const atOnce = isAtOnce(app);
  for (const settings of stageInContext(app) ?? stages) {
    const stage = new Stage(app, settings.name);
    stage.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, settings.qualifier);
    const inventory = new InventoryStack(stage, 'Inventory', {
      ...settings,
      pageOrigin: pageOriginOf(settings),
      atOnce,
    });
    if (referencePage && settings.page) addReferencePage(stage, settings, inventory);
  }
  return app;
}

/** `--context rollout=allAtOnce`: no stage has a canary, so that going back is quick, and no alarm stops it. */
function isAtOnce(app: App): boolean {
  const rollout: unknown = app.node.tryGetContext('rollout');
  if (rollout === undefined || rollout === 'allAtOnce') return rollout !== undefined;
  throw new Error(`The context "rollout" may be "allAtOnce" only, not ${JSON.stringify(rollout)}`);
}

/** `--context stage=dev-ann`: that stage alone, which may be a developer's own. */
function stageInContext(app: App): StageSettings[] | undefined {
  const stage: unknown = app.node.tryGetContext('stage');
  if (stage === undefined) return undefined;
  const name = typeof stage === 'string' ? parseStageName(stage) : undefined;
  if (name) return [settingsOf(name)];
  throw new Error(`The context "stage" may be ${STAGE_NAMES}, not ${JSON.stringify(stage)}`);
}

/** The API links to the page, and the page has the API's address in it: so the page comes in two parts. */
function addReferencePage(stage: Stage, settings: StageSettings, inventory: InventoryStack): void {
  inventory.addStackDependency(new ReferenceSite(stage, 'ReferenceSite', settings));
  new ReferenceContent(stage, 'ReferenceContent', settings).addStackDependency(inventory);
}
