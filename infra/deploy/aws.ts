import { setTimeout as sleep } from 'node:timers/promises';
import { CancelUpdateStackCommand, CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DescribeStackResourceCommand, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { DescribeStacksCommand, type DescribeStacksOutput } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { AdminError, failureText, reasonOf } from '../admin/admin-error.ts';

/** Short timeouts and few attempts for calls to AWS. */
const bounded = { requestHandler: { connectionTimeout: 3_000, socketTimeout: 10_000 }, maxAttempts: 2 };
const cloudFormation = new CloudFormationClient(bounded);

/**
 * The account and region of the credentials.
 *
 * @throws AdminError if there is no region, or AWS rejects the credentials
 */
export async function findAccount() {
  const sts = new STSClient(bounded);
  const region = await sts.config.region().catch(() => undefined);
  if (!region) throw new AdminError('No AWS region is set. Set one, such as: export AWS_REGION=eu-central-1');
  const { Account, Arn } = await sts.send(new GetCallerIdentityCommand()).catch((error: unknown) => {
    const { AWS_PROFILE: profile, AWS_ACCESS_KEY_ID: key } = process.env;
    const source = profile || !key ? `profile ${profile || 'default (AWS_PROFILE is not set)'}` : 'AWS_ACCESS_KEY_ID';
    const text = failureText(error, 'run it again', 'nothing was deployed');
    if (text === undefined) throw error;
    throw new AdminError(`With ${source}: ${text}`);
  });
  return { place: `${Account}/${region}`, user: Arn };
}

/** @throws AdminError if Lambda would fail the first deployment midway, which leaves tables behind */
export async function checkQuota(needed: number): Promise<void> {
  const { AccountLimit } = await new LambdaClient(bounded).send(new GetAccountSettingsCommand());
  const { UnreservedConcurrentExecutions: functions = 0 } = AccountLimit ?? {};
  if (functions >= needed) return;
  const how = 'request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000';
  const what = `${functions} concurrent executions, and this stage needs ${needed}`;
  throw new AdminError(`This account has ${what}. Request more: aws service-quotas ${how}`);
}

/** Whether `cdk bootstrap` has run with a qualifier in the account and region, with any stack name. */
export async function isBootstrapped(qualifier: string): Promise<boolean> {
  const call = new SSMClient(bounded).send(new GetParameterCommand({ Name: `/cdk-bootstrap/${qualifier}/version` }));
  const found = await call.catch((error: unknown) => {
    if (!(error instanceof ParameterNotFound)) throw error;
  });
  return found !== undefined;
}

async function describe(StackName: string) {
  const call = cloudFormation.send(new DescribeStacksCommand({ StackName }));
  const { Stacks: [stack] = [] } = await call.catch((error: unknown): DescribeStacksOutput => {
    if (/^Stack with id \S+ does not exist$/.test(reasonOf(error))) return {};
    throw error;
  });
  return stack;
}

/** The status of an existing stack. */
export async function statusOf(stackName: string): Promise<string | undefined> {
  const status = (await describe(stackName))?.StackStatus ?? '';
  return /^(?:$|CREATE_FAILED|REVIEW|ROLLBACK|DELETE)/.test(status) ? undefined : status;
}

/** @throws AdminError if a failed first deployment left a protected stack, which the CDK cannot delete */
export async function refuseRemains(stackName: string): Promise<void> {
  const { StackStatus = '', EnableTerminationProtection } = (await describe(stackName)) ?? {};
  if (!EnableTerminationProtection || !/^(?:CREATE_FAILED|REVIEW|ROLLBACK_)/.test(StackStatus)) return;
  const how = `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stackName}`;
  throw new AdminError(
    `The first deployment of ${stackName} failed, and its stack is protected from deletion. As an admin, run: ${how}`,
  );
}

/** Cancels an update in progress, and waits until CloudFormation has rolled it back. */
export async function cancelUpdate(StackName: string): Promise<void> {
  while ((await statusOf(StackName))?.endsWith('_IN_PROGRESS')) {
    await cloudFormation.send(new CancelUpdateStackCommand({ StackName })).catch((error: unknown) => {
      // It is rolling back already, or has completed meanwhile.
      if (!(error instanceof Error && error.name === 'ValidationError')) throw error;
    });
    await sleep(5_000);
  }
}

/** The deployed template of a stack. */
export async function deployedTemplate(StackName: string): Promise<unknown> {
  const { TemplateBody = '' } = await cloudFormation.send(new GetTemplateCommand({ StackName }));
  return JSON.parse(TemplateBody);
}

/** Whether the last update of a stack created a resource, so the previous version lacks it. */
export async function isOfLastUpdate(StackName: string, LogicalResourceId: string): Promise<boolean> {
  const { StackStatus, LastUpdatedTime: updated } = (await describe(StackName)) ?? {};
  // It was never updated: there is no previous version.
  if (StackStatus === 'CREATE_COMPLETE') return false;
  const command = new DescribeStackResourceCommand({ StackName, LogicalResourceId });
  const { ResourceStatus, LastUpdatedTimestamp } = (await cloudFormation.send(command)).StackResourceDetail ?? {};
  const isNew = ResourceStatus === 'CREATE_COMPLETE';
  return isNew && updated !== undefined && LastUpdatedTimestamp !== undefined && LastUpdatedTimestamp >= updated;
}
