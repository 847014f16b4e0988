import { App, BOOTSTRAP_QUALIFIER_CONTEXT, Stage } from 'aws-cdk-lib';
import cdkJson from '../cdk.json' with { type: 'json' };
import { pageOriginOf } from './stack/domains.ts';
import { InventoryStack } from './stack/inventory-stack.ts';
import { ReferenceContent } from './stack/reference-content.ts';
import { ReferenceSite } from './stack/reference-site.ts';
import { parseStageName, settingsOf, STAGE_NAMES, type StageSettings } from './stages.ts';

/**
 * The feature flags of cdk.json, which the CDK CLI passes too, so every synthesis creates the same
 * template. Without the CLI, the slow check against CloudFormation's rules is skipped.
 */
const context = { ...cdkJson.context, '@aws-cdk/core:validateAgainstDefaultRules': false };

export interface AppOptions {
  /** Directory of the cloud assembly; by default that of the CDK CLI. */
  readonly outdir?: string;
  /** Also create the stacks of the reference page. Without them the API's stack is the same, and faster. */
  readonly referencePage?: boolean;
}

/** The CDK app: per stage the site of the reference page, the API, and the page's files. */
export function createApp(stages: readonly StageSettings[], { outdir, referencePage = true }: AppOptions = {}): App {
  const app = new App({ analyticsReporting: false, context, ...(outdir !== undefined && { outdir }) });
  const allAtOnce = isAllAtOnce(app);
  for (const settings of stageInContext(app) ?? stages) {
    const stage = new Stage(app, settings.name);
    stage.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, settings.qualifier);
    const inventory = new InventoryStack(stage, 'Inventory', {
      ...settings,
      pageOrigin: pageOriginOf(settings),
      allAtOnce,
    });
    if (referencePage && settings.page) addReferencePage(stage, settings, inventory);
  }
  return app;
}

/** `--context rollout=allAtOnce`: no stage has a canary, so that going back is quick, and no alarm stops it. */
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

/** The API links to the page, and the page contains the API's URL, so the page has two stacks. */
function addReferencePage(stage: Stage, settings: StageSettings, inventory: InventoryStack): void {
  inventory.addStackDependency(new ReferenceSite(stage, 'ReferenceSite', settings));
  new ReferenceContent(stage, 'ReferenceContent', settings).addStackDependency(inventory);
}
