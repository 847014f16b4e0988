import { type App, CfnOutput } from 'aws-cdk-lib';
import { InventoryStack } from '../stack/inventory-stack.ts';
import { checkedOutBuild } from './build.ts';

/** Adds each stage's commit to its outputs. Only in the CLI's app: other templates have no commit. */
export function outputBuild(app: App): void {
  const value = checkedOutBuild();
  for (const stack of app.node.findAll().filter((each) => each instanceof InventoryStack))
    new CfnOutput(stack, 'RunningBuild', { value, description: 'The commit of this deployment, for rollbacks' });
}
