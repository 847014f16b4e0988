import { type App, CfnOutput } from 'aws-cdk-lib';
import { InventoryStack } from '../stack/inventory-stack.ts';
import { checkedOutBuild } from './build.ts';

/** Adds the commit of each stage, and the one before it, to its outputs. Only in the CLI's app. */
export function outputBuild(app: App): void {
  const PreviousBuild = String(app.node.tryGetContext('previousBuild') ?? 'unknown');
  const builds = { RunningBuild: checkedOutBuild(), PreviousBuild };
  for (const stack of app.node.findAll().filter((each) => each instanceof InventoryStack))
    for (const [name, value] of Object.entries(builds))
      new CfnOutput(stack, name, { value, description: 'A commit, for rollbacks: npm run deploy -- --status' });
}
