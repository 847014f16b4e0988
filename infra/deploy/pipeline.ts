import { IAMClient, ListOpenIDConnectProvidersCommand } from '@aws-sdk/client-iam';
import { stageNames, stages } from '../stages.ts';
import { type Account, bounded } from './account.ts';
import { bootstrap, confirm, findStack, run } from './steps.ts';

/** Gives a repository on GitHub access to AWS, and each stage a bootstrap with no more rights than the stage needs. */
export async function setUpPipeline(account: Account, repository: string, isAgreed: boolean): Promise<void> {
  const before = await findStack('PipelineAccess');
  if (before?.['Repository'] !== repository) await confirm(`Let ${repository} deploy to ${account.id}?`, isAgreed);
  const providers = JSON.stringify(await new IAMClient(bounded).send(new ListOpenIDConnectProvidersCommand()));
  const isThere = providers.includes('/token.actions.githubusercontent.com"') ? 'yes' : 'no';
  // The stack would delete a provider that it has made, if another were said to have made it.
  const hasProvider = before?.['HasProvider'] ?? isThere;
  const parameters = [`Repository=${repository}`, `HasProvider=${hasProvider}`].flatMap((one) => ['--parameters', one]);
  await run('cdk', ['deploy', 'PipelineAccess', ...parameters, '--require-approval', 'never']);
  for (const stage of stageNames) await bootstrap(account, stages[stage], true);
  const access = await findStack('PipelineAccess');
  process.stdout.write(githubSteps(repository.replaceAll(/@\d+/g, ''), account, access));
}

/** What GitHub takes from its own tools alone. Without its last variable, nothing is deployed. */
function githubSteps(name: string, { id, region }: Account, access: Readonly<Record<string, string>> = {}): string {
  const set = (variable: string, value?: string) => `gh variable set AWS_${variable} --repo ${name} --body '${value}'`;
  const only = '"deployment_branch_policy":{"protected_branches":false,"custom_branch_policies":true}';
  const approval = `"reviewers":[{"type":"User","id":'"$(gh api user --jq .id)"'}],`;
  const checks = '"required_status_checks":{"strict":false,"contexts":["test","audit","workflows","diff"]}';
  const review =
    '"required_pull_request_reviews":{"required_approving_review_count":1,"require_code_owner_reviews":true}';
  return `
Left to do on GitHub (production waits for an approval, which is yours at first):

gh api -X PUT repos/${name}/environments/staging --input - <<< '{${only}}'
gh api -X POST repos/${name}/environments/staging/deployment-branch-policies -f name=main
gh api -X PUT repos/${name}/environments/production --input - <<< '{${approval}${only}}'
gh api -X POST repos/${name}/environments/production/deployment-branch-policies -f name=main
gh api -X PUT repos/${name}/branches/main/protection --input - <<< '{${checks},${review},"enforce_admins":false,"restrictions":null}'
${set('ACCOUNT', id)}
${set('PULL_REQUEST_ROLE', access['PullRequestRoleArn'])}
${set('STAGING_ROLE', access['StagingRoleArn'])}
${set('PRODUCTION_ROLE', access['ProductionRoleArn'])}
${set('REGION', region)}
`;
}
