import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Stack } from '@aws-sdk/client-cloudformation';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import * as v from 'valibot';
import { AdminError } from '../failures.ts';
import { type AnyStageName, isPersonal, missingAlarmTargets, settingsOf, stackNameOf } from '../stages.ts';
import { cancelUpdate, deployedTemplate, describeStack, failureOf, findAccount, isNew } from './aws.ts';
import { findBuild, refuseOlder, refuseUnknown } from './build.ts';
import { run } from './run.ts';
import { outputsSchema, smokeTest } from './smoke.ts';

export interface DeployOptions {
  readonly stage: AnyStageName;
  readonly rollBack: boolean;
  readonly allowTableLoss: readonly string[];
  readonly dryRun: boolean;
  readonly status: boolean;
}

/** The commit that an output names; `unknown` before the first deployment, and after `cdk deploy`. */
const buildOf = (stack: Stack | undefined, output: 'RunningBuild' | 'PreviousBuild'): string =>
  stack?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue ?? 'unknown';

/** The commit before the one that is checked out, also if that one is deployed again. */
function previousBuildOf(stack: Stack | undefined): string {
  const running = buildOf(stack, 'RunningBuild');
  return running === findBuild().build ? buildOf(stack, 'PreviousBuild') : running;
}

const statusOf = (stack: Stack | undefined): string => stack?.StackStatus ?? 'not deployed';
const isNewStage = (stack: Stack | undefined) => /^(?:not|REVIEW|ROLLBACK|DELETE)/.test(statusOf(stack));

/** Checks the options, and prints the account, the commit that runs and the one before it. */
export async function findStage({ stage, rollBack, dryRun, status }: DeployOptions): Promise<Stack | undefined> {
  if (!dryRun && !status) {
    refuseUnknown(stage);
    const missing = missingAlarmTargets(settingsOf(stage));
    // A rollback is never stopped.
    if (missing && !rollBack) throw new AdminError(`${missing}. Nothing was deployed.`);
    if (process.env['CI']) for (const gap of gapsOf(stage)) process.stdout.write(`::warning::${gap}\n`);
  }
  const { place, user } = await findAccount();
  const stack = await describeStack(stackNameOf(stage));
  process.stdout.write(`Account: ${place}, as ${user}\n${stage}: ${statusOf(stack)}\n`);
  const running = buildOf(stack, 'RunningBuild');
  process.stdout.write(`Running: ${running}\nPrevious: ${buildOf(stack, 'PreviousBuild')}\n`);
  if (!rollBack && !dryRun && !status) refuseOlder(stage, running);
  return stack;
}

const codeOwners = join(import.meta.dirname, '../../.github/CODEOWNERS');

/** What the pipeline lacks, but this deployment does not need. */
export function gapsOf(stage: AnyStageName, owners = readFileSync(codeOwners, 'utf8')): string[] {
  const missing = stage === 'staging' ? missingAlarmTargets(settingsOf('production')) : undefined;
  const unprotected = '.github/CODEOWNERS names @OWNER: no owner reviews changes of .github/ and infra/release/';
  return [...(missing ? [missing] : []), ...(/^[^#].*@OWNER\b/m.test(owners) ? [unprotected] : [])];
}

/** Runs the other checks, and synthesizes. For a rollback, cancels an update in progress. */
export async function prepareStage(options: DeployOptions, before: Stack | undefined, assembly: string): Promise<void> {
  const { stage, rollBack, dryRun } = options;
  const name = stackNameOf(stage);
  if (rollBack && !dryRun) await cancelUpdate(name);
  const context = [`previousBuild=${previousBuildOf(before)}`, ...(isPersonal(stage) ? [`stage=${stage}`] : [])];
  if (rollBack) context.push('rollout=allAtOnce');
  const contextWords = context.flatMap((one) => ['--context', one]);
  await run('cdk', ['synth', `${stage}/*`, '--quiet', '--output', assembly, ...contextWords]);
  const { template } = new CloudAssembly(assembly).stacksRecursively.find(({ stackName }) => stackName === name) ?? {};
  if (!isNewStage(before)) await refuseTableLoss(options, await deployedTemplate(name), template);
}

/** @throws AdminError if a table would be lost without permission */
async function refuseTableLoss(options: DeployOptions, ...templates: [deployed: unknown, next: unknown]) {
  const { stage, rollBack, allowTableLoss } = options;
  const [deployed, next] = v.parse(v.tuple([templateSchema, templateSchema]), templates);
  const refused: string[] = [];
  for (const id of lostTables(deployed, next).filter((each) => !allowTableLoss.includes(each))) {
    // A rollback may delete the tables that the release to be undone has created: the older one has no data there.
    if (!rollBack || !(await isNew(stackNameOf(stage), id))) refused.push(id);
  }
  if (refused.length === 0) return;
  const why = 'this commit lacks them, or changes their keys, so the service could not read their data';
  const how = `To deploy anyway: --allow-table-loss ${refused.join(' ')}`;
  throw new AdminError(`${stage} would lose ${refused.join(', ')}: ${why}. ${how}`);
}

/** Deploys what was synthesized, and runs the smoke test. */
export async function deployStage(options: DeployOptions, before: Stack | undefined, assembly: string): Promise<void> {
  const { stage } = options;
  const name = stackNameOf(stage);
  const file = join(assembly, 'outputs.json');
  const words = ['deploy', `${stage}/*`, '--app', assembly, '--outputs-file', file, '--require-approval', 'never'];
  // A first deployment that fails has nothing to roll back to: the next one continues it.
  if (/^(?:CREATE_(?:FAILED|IN)|UPDATE_FAILED)/.test(statusOf(before)) || isNewStage(before))
    words.push('--no-rollback');
  outputWayBack(options, buildOf(before, 'RunningBuild'));
  await run('cdk', words, {}, () => failureOf(name, before));
  const { [name]: outputs = {} } = v.parse(v.record(v.string(), outputsSchema), JSON.parse(readFileSync(file, 'utf8')));
  await smokeTest(stage, outputs, wayBack(options, previousBuildOf(before)));
  const next = `npm run admin -- keys create --stage ${stage} --name NAME --plan free`;
  process.stdout.write(`\nDeployed: ${outputs['BaseUrl']}\nTo create a key: ${next}\n`);
}

const isCommit = (build: string): boolean => /^[0-9a-f]+$/.test(build);

/** Outputs the commit that the workflow goes back to if the deployment fails: another one that ran before. */
function outputWayBack({ rollBack }: DeployOptions, running: string): void {
  const { GITHUB_OUTPUT: file } = process.env;
  if (file && !rollBack && isCommit(running) && running !== findBuild().build)
    appendFileSync(file, `before=${running}\n`);
}

/** What helps if the new version fails. A rollback has replaced a bad commit, and a first deployment none. */
function wayBack({ stage, rollBack }: DeployOptions, previous: string): string {
  if (rollBack || !isCommit(previous)) return 'Fix the cause, or deploy another commit.';
  const back = `git checkout ${previous} && npm ci && npm run deploy -- --stage ${stage} --roll-back`;
  return `To roll back to the previous commit: ${back}`;
}

const resourceSchema = v.object({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) });
/** The part of a CloudFormation template that a deploy checks. */
const templateSchema = v.object({ Resources: v.record(v.string(), resourceSchema) });
type Template = v.InferOutput<typeof templateSchema>;

const tableSchema = v.object({
  KeySchema: v.optional(v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })), []),
  AttributeDefinitions: v.optional(v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })), []),
});

/** Logical ids of deployed tables that another template lacks, or has with other keys. */
export function lostTables(deployed: Template, next: Template): string[] {
  const keysOf = (id: string, { Resources }: Template) => {
    const { Type, Properties } = Resources[id] ?? {};
    const { KeySchema, AttributeDefinitions } = v.parse(tableSchema, Properties ?? {});
    // Other attribute definitions belong to indexes, which change without the table.
    const isKey = (name: string): boolean => KeySchema.some(({ AttributeName }) => AttributeName === name);
    return [Type, KeySchema, AttributeDefinitions.filter(({ AttributeName }) => isKey(AttributeName))];
  };
  const ids = Object.keys(deployed.Resources).filter((id) =>
    /^AWS::DynamoDB::(?:Global)?Table$/.test(deployed.Resources[id]?.Type ?? ''),
  );
  return ids.filter((id) => !isDeepStrictEqual(keysOf(id, deployed), keysOf(id, next)));
}
