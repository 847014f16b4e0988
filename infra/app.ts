import { CfnOutput, Validations } from 'aws-cdk-lib';
import { createApp } from './create-app.ts';
import { findBuild } from './deploy/build.ts';
import { InventoryStack } from './stack/inventory-stack.ts';
import { SecurityChecks } from './stack/security-checks.ts';
import { stages } from './stages.ts';

/** The CDK app that `cdk synth`, `cdk validate` and `cdk deploy` run (see cdk.json). */
const app = createApp(Object.values(stages));
const PreviousBuild = String(app.node.tryGetContext('previousBuild') ?? 'unknown');
for (const stack of app.node.findAll().filter((each) => each instanceof InventoryStack))
  for (const [name, value] of Object.entries({ RunningBuild: findBuild().build, PreviousBuild }))
    new CfnOutput(stack, name, { value, description: 'A commit, for rollbacks: npm run deploy -- --status' });
Validations.of(app).addPlugins(new SecurityChecks(app));
app.synth();
