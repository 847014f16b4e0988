import { type App, CfnOutput } from 'aws-cdk-lib';
import { InventoryStack } from '../stack/inventory-stack.ts';
import { checkedOutBuild } from './build.ts';

/** Has each stage say which commit it was deployed from. In the CLI's app alone: other templates are of no commit. */
export function outputBuild(app: App): void {
  const value = checkedOutBuild();
  for (const stack of app.node.findAll().filter((each) => each instanceof InventoryStack))
    new CfnOutput(stack, 'RunningBuild', { value, description: 'A deploy that fails goes back to the one before' });
}
