import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CancelUpdateStackCommand, CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DescribeStacksCommand, type DescribeStacksOutput, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import * as v from 'valibot';
import { operations } from '../../shared/contract/operations.ts';
import { AdminError, reasonOf } from '../admin/admin-error.ts';
import type { StageSettings } from '../stages.ts';

/** An AWS that does not answer is given up soon. */
const bounded = { requestHandler: { connectionTimeout: 3_000, socketTimeout: 10_000 }, maxAttempts: 2 };
const cloudFormation = (): CloudFormationClient => new CloudFormationClient(bounded);

/** Where the credentials lead. */
export async function findAccount() {
  const sts = new STSClient(bounded);
  const region = await sts.config.region().catch(() => undefined);
  if (!region) throw new AdminError('There is no region. Set one, such as: export AWS_REGION=eu-central-1');
  const { Account, Arn } = await sts.send(new GetCallerIdentityCommand());
  return { place: `${Account}/${region}`, user: Arn };
}

/** How many functions have to be free: Lambda sets none aside unless 100 stay for all others. */
export function neededAtOnce({ lists: { concurrency = 0 }, bulksAtOnce = 0 }: StageSettings): number {
  const setAside = concurrency * Object.keys(operations).filter((id) => id.startsWith('list')).length + bulksAtOnce;
  return setAside && setAside + 100;
}

/** @throws AdminError where Lambda would refuse the first deploy in its middle, which leaves tables behind */
export async function checkQuotas(settings: StageSettings): Promise<void> {
  const { AccountLimit } = await new LambdaClient(bounded).send(new GetAccountSettingsCommand());
  const { UnreservedConcurrentExecutions: functions = 0 } = AccountLimit ?? {};
  const needed = neededAtOnce(settings);
  if (functions >= needed) return;
  const how = 'request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000';
  const what = `${functions} functions at once, and ${settings.name} needs ${needed}`;
  throw new AdminError(`Lambda lets this account run ${what}. Ask for more: aws service-quotas ${how}`);
}

/** Status and outputs of a stack, where it has been made. */
export async function findStack(name: string): Promise<Record<string, string> | undefined> {
  const call = cloudFormation().send(new DescribeStacksCommand({ StackName: name }));
  const { Stacks: [stack] = [] } = await call.catch((error: unknown): DescribeStacksOutput => {
    if (/^Stack with id \S+ does not exist$/.test(reasonOf(error))) return {};
    throw error;
  });
  const { StackStatus: status = 'NONE', Outputs = [] } = stack ?? {};
  if (/^(?:NONE|CREATE_FAILED|REVIEW|ROLLBACK|DELETE)/.test(status)) return undefined;
  return {
    status,
    ...Object.fromEntries(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue])),
  };
}

/** Ends an update that is under way, and waits until CloudFormation has taken it back. */
export async function cancelUpdate(StackName: string): Promise<void> {
  const { status = '' } = (await findStack(StackName)) ?? {};
  if (!status.endsWith('_IN_PROGRESS')) return;
  // It may come to its end by itself meanwhile.
  if (status === 'UPDATE_IN_PROGRESS')
    await cloudFormation()
      .send(new CancelUpdateStackCommand({ StackName }))
      .catch(() => undefined);
  await sleep(5_000);
  return cancelUpdate(StackName);
}

const tableSchema = v.object({
  Type: v.picklist(['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable']),
  Properties: v.object({ KeySchema: v.unknown(), AttributeDefinitions: v.optional(v.unknown()) }),
});
const templateSchema = v.object({ Resources: v.record(v.string(), v.fallback(v.optional(tableSchema), undefined)) });

/** Tables of the deployed template that another lacks, or has with other keys: by their logical ids. */
export async function lostTables(StackName: string, template: unknown): Promise<string[]> {
  const { TemplateBody = '' } = await cloudFormation().send(new GetTemplateCommand({ StackName }));
  const [before, after] = [v.parse(templateSchema, JSON.parse(TemplateBody)), v.parse(templateSchema, template)];
  const tables = Object.entries(before.Resources).filter(([, table]) => table);
  return tables.flatMap(([id, table]) => (isDeepStrictEqual(table, after.Resources[id]) ? [] : id));
}
