import { App, BOOTSTRAP_QUALIFIER_CONTEXT, Stage } from 'aws-cdk-lib';
import cdkJson from '../cdk.json' with { type: 'json' };
import { InventoryStack } from './stack/inventory-stack.ts';
import { parseStageName, settingsOf, STAGE_NAMES, type StageSettings } from './stages.ts';

/** The CLI's feature flags, for the same template. Without the CLI, the slow check of CloudFormation's rules is off. */
const context = { ...cdkJson.context, '@aws-cdk/core:validateAgainstDefaultRules': false };

export interface AppOptions {
  /** Directory of the cloud assembly; by default that of the CDK CLI. */
  readonly outdir?: string;
  /** Include the files of the reference page. Without them, the assembly has a tenth of the size. */
  readonly pageFiles?: boolean;
}

/** The CDK app: one stack per stage. */
export function createApp(stages: readonly StageSettings[], { outdir, pageFiles = true }: AppOptions = {}): App {
  const app = new App({ analyticsReporting: false, context, ...(outdir !== undefined && { outdir }) });
  const allAtOnce = isAllAtOnce(app);
  for (const settings of stageInContext(app) ?? stages) {
    const stage = new Stage(app, settings.name);
    stage.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, settings.qualifier);
    new InventoryStack(stage, 'Inventory', { ...settings, allAtOnce, pageFiles });
  }
  return app;
}

/** For a rollback: this deployment shifts all traffic immediately. CodeDeploy stays for the next one. */
function isAllAtOnce(app: App): boolean {
  const rollout: unknown = app.node.tryGetContext('rollout');
  if (rollout === undefined || rollout === 'allAtOnce') return rollout !== undefined;
  throw new Error(`The context "rollout" may be "allAtOnce" only, not ${JSON.stringify(rollout)}`);
}

/** `--context stage=dev-ann`: only that stage, such as a developer's. */
function stageInContext(app: App): StageSettings[] | undefined {
  const stage: unknown = app.node.tryGetContext('stage');
  if (stage === undefined) return undefined;
  const name = typeof stage === 'string' ? parseStageName(stage) : undefined;
  if (name) return [settingsOf(name)];
  throw new Error(`The context "stage" may be ${STAGE_NAMES}, not ${JSON.stringify(stage)}`);
}
