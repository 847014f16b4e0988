import { Validations } from 'aws-cdk-lib';
import { createApp } from './create-app.ts';
import { outputBuild } from './deploy/output-build.ts';
import { SecurityChecks } from './stack/security-checks.ts';
import { stages } from './stages.ts';

/** The CDK app that `cdk synth`, `cdk validate` and `cdk deploy` run (see cdk.json): the stages, and nothing else. */
const app = createApp(Object.values(stages));
outputBuild(app);
Validations.of(app).addPlugins(new SecurityChecks(app));
app.synth();
