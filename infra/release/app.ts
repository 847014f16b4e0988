import { App, Validations } from 'aws-cdk-lib';
import { SecurityChecks } from '../stack/security-checks.ts';
import { stageNames } from '../stages.ts';
import { PipelineAccess } from './pipeline-access.ts';

/** The CDK app that an admin deploys before the pipeline: a stack for the account of each stage. */
const app = new App({ analyticsReporting: false });
for (const stage of stageNames) new PipelineAccess(app, `PipelineAccess-${stage}`, stage);
Validations.of(app).addPlugins(new SecurityChecks(app));
app.synth();
