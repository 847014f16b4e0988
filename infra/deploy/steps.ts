import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CloudFormationClient, DescribeStacksCommand, type DescribeStacksOutput } from '@aws-sdk/client-cloudformation';
import { AttachRolePolicyCommand, IAMClient } from '@aws-sdk/client-iam';
import { AdminError, reasonOf } from '../admin/admin-error.ts';
import type { StageSettings } from '../stages.ts';
import { type Account, bounded } from './account.ts';

export const say = (step: string, words: string): void => void process.stdout.write(`${step.padEnd(12)}${words}\n`);

/** @param env with which it is a group of its own: Ctrl-C does not reach it @throws AdminError where it fails */
export async function run(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<void> {
  const options = { stdio: 'inherit', env: { ...process.env, ...env }, detached: env !== undefined } as const;
  say('Run', `${program} ${args.join(' ')}`);
  const [status] = await once(spawn(program, args, options), 'exit');
  if (status !== 0) throw new AdminError(`Failed: ${args.slice(0, 2).join(' ')}. The same command goes on from there.`);
}

/** @throws AdminError where the answer is no, or there is no terminal to ask at */
export async function confirm(question: string, isAgreed: boolean): Promise<void> {
  if (isAgreed) return;
  if (!process.stdin.isTTY) throw new AdminError(`${question} Say --yes to go on without being asked.`);
  process.stderr.write(`${question} (y/N) `);
  const lines = createInterface({ input: process.stdin, terminal: false });
  const [answer = ''] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  lines.close();
  if (!/^y(?:es)?$/i.test(String(answer).trim())) throw new AdminError('Stopped. The same command goes on from here.');
}

/** Parameters and outputs of a stack, where it has been made. @throws AdminError where it cannot be changed now */
export async function findStack(name: string): Promise<Record<string, string> | undefined> {
  const call = new CloudFormationClient(bounded).send(new DescribeStacksCommand({ StackName: name }));
  const { Stacks: [stack] = [] } = await call.catch((error: unknown): DescribeStacksOutput => {
    if (/^Stack with id \S+ does not exist$/.test(reasonOf(error))) return {};
    throw error;
  });
  const { StackStatus: status = '', Outputs = [], Parameters = [] } = stack ?? {};
  if (/(?<!^REVIEW)_IN_PROGRESS$|^UPDATE_ROLLBACK_FAILED$/.test(status)) {
    const how = status.endsWith('FAILED')
      ? 'Run npx cdk rollback on it first (docs/runbooks.md)'
      : 'Wait until it is through';
    throw new AdminError(`The stack ${name} is in ${status}. ${how}, and run the same command again.`);
  }
  const parameters = Parameters.map(({ ParameterKey = '', ParameterValue = '' }) => [ParameterKey, ParameterValue]);
  const outputs = Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]);
  return /(?<!^ROLLBACK|^DELETE)_COMPLETE$/.test(status) ? Object.fromEntries([...parameters, ...outputs]) : undefined;
}

/** Makes what the CDK needs for a stage, with the policies that PipelineAccess has for it, where that is there. */
export async function bootstrap({ id, region }: Account, { name, qualifier }: StageSettings, isAgreed: boolean) {
  const access = (await findStack('PipelineAccess')) ?? {};
  const prefix = name.charAt(0).toUpperCase() + name.slice(1);
  const policies = ['Execution', 'Boundary'].flatMap((kind) => access[`${prefix}${kind}PolicyArn`] ?? []).join();
  const toolkit = `CDKToolkit-${qualifier}`;
  const current = (await findStack(toolkit))?.['CloudFormationExecutionPolicies'];
  if (current?.includes(policies)) say('Bootstrap', `${toolkit} is there.`);
  else {
    const rights = policies === '' ? 'anything' : 'what PipelineAccess lets it do';
    await confirm(`Bootstrap ${id}, ${region} for ${name}? CloudFormation may then do ${rights}.`, isAgreed);
    const limits = policies === '' ? [] : ['--cloudformation-execution-policies', policies];
    const named = [`aws://${id}/${region}`, '--qualifier', qualifier, '--toolkit-stack-name', toolkit];
    await run('cdk', ['bootstrap', ...named, ...limits]);
  }
  // The roles of a bootstrap may otherwise change any stack.
  for (const use of policies === '' ? [] : ['deploy', 'lookup']) {
    const RoleName = `cdk-${qualifier}-${use}-role-${id}-${region}`;
    await new IAMClient(bounded).send(new AttachRolePolicyCommand({ RoleName, PolicyArn: policies.split(',')[1] }));
  }
}
