import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { createApp } from './create-app.ts';
import { outputBuild } from './deploy/output-build.ts';
import { PipelineAccess } from './release/pipeline-access.ts';
import { stages } from './stages.ts';

/** The CDK app that `cdk synth`, `cdk validate` and `cdk deploy` run (see cdk.json). */
const app = createApp(Object.values(stages), { validate: true });
new PipelineAccess(app, 'PipelineAccess');
outputBuild(app);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
