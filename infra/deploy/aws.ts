import { setTimeout as sleep } from 'node:timers/promises';
import { CancelUpdateStackCommand, CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DescribeStackResourceCommand, GetTemplateCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { type DescribeStacksOutput, paginateDescribeStackEvents } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { AdminError, failureText, reasonOf } from '../failures.ts';

/** Short timeouts and few attempts for calls to AWS. */
const bounded = { requestHandler: { connectionTimeout: 3_000, socketTimeout: 10_000 }, maxAttempts: 2 };
const cloudFormation = new CloudFormationClient(bounded);

/** @throws AdminError if there is no region, or AWS rejects the credentials */
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

/** An existing stack. */
export async function describeStack(StackName: string): Promise<Stack | undefined> {
  const call = cloudFormation.send(new DescribeStacksCommand({ StackName }));
  const { Stacks: [stack] = [] } = await call.catch((error: unknown): DescribeStacksOutput => {
    if (/^Stack with id \S+ does not exist$/.test(reasonOf(error))) return {};
    throw error;
  });
  return stack;
}

/** Cancels an update in progress, and waits until CloudFormation has rolled it back. */
export async function cancelUpdate(StackName: string): Promise<void> {
  while (/^(?!REVIEW).*_IN_PROGRESS$/.test((await describeStack(StackName))?.StackStatus ?? '')) {
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

/** Whether the last update created a resource, so the version before it lacks it. False after a rolled back update. */
export async function isNew(StackName: string, LogicalResourceId: string): Promise<boolean> {
  const { StackStatus, LastUpdatedTime: updated } = (await describeStack(StackName)) ?? {};
  // It was never updated: there is no previous version.
  if (StackStatus === 'CREATE_COMPLETE' || updated === undefined) return false;
  const command = new DescribeStackResourceCommand({ StackName, LogicalResourceId });
  const { ResourceStatus, LastUpdatedTimestamp } = (await cloudFormation.send(command)).StackResourceDetail ?? {};
  return ResourceStatus === 'CREATE_COMPLETE' && LastUpdatedTimestamp !== undefined && LastUpdatedTimestamp >= updated;
}

/** What became of a deployment that failed, its cause, and what helps. */
export async function failureOf(stackName: string, before: Stack | undefined): Promise<string> {
  const { StackStatus: status = 'REVIEW', LastUpdatedTime: updated } = (await describeStack(stackName)) ?? {};
  const repeat = 'Run the same command again after an interruption; otherwise, fix the cause first.';
  const isSame = status === before?.StackStatus && updated?.getTime() === before.LastUpdatedTime?.getTime();
  if (isSame || status.startsWith('REVIEW')) return `${stackName} was not changed. ${repeat}`;
  const failure = await firstFailure(stackName).catch(reasonOf);
  let [result, advice] = ['is not deployed completely', repeat];
  if (status.includes('ROLLBACK')) result = 'was rolled back';
  if (result === 'was rolled back' && failure === undefined)
    advice = 'The deployment was canceled. Deploy this commit again only if it is good.';
  if (status.endsWith('ROLLBACK_FAILED'))
    [result, advice] = ['could not be rolled back', 'See docs/runbooks.md#stuck-stack.'];
  return `${stackName} ${result} (${status}): ${failure ?? 'no resource failed'}. ${advice}`;
}

/** The first resource that failed in the last deployment, and its reason. */
async function firstFailure(StackName: string): Promise<string | undefined> {
  let first: string | undefined;
  // The newest events come first.
  for await (const { StackEvents = [] } of paginateDescribeStackEvents({ client: cloudFormation }, { StackName }))
    for (const { ResourceStatus = '', ResourceStatusReason: reason = '', ...event } of StackEvents) {
      // CloudFormation cancels the others.
      if (ResourceStatus.endsWith('_FAILED') && !/ cancel\w+$/.test(reason))
        first = `${event.LogicalResourceId} (${event.ResourceType}) failed: ${reasonOf(reason)}`;
      const isStart = /^(?:CREATE|UPDATE)_IN_PROGRESS$/.test(ResourceStatus);
      if (isStart && event.PhysicalResourceId === event.StackId) return first;
    }
  return first;
}
