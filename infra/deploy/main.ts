import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { Command, CommanderError } from 'commander';
import * as v from 'valibot';
import { AdminError, failureText } from '../admin/admin-error.ts';
import { parseStage } from '../admin/commands/options.ts';
import { visibleLines } from '../admin/text-format.ts';
import { type AnyStageName, isPersonal, missingAlarmTargets, settingsOf } from '../stages.ts';
import { stackNameOf, STAGE_NAMES, STANDARD_QUALIFIER } from '../stages.ts';
import { cancelUpdate, checkQuota, deployedTemplate, findAccount } from './aws.ts';
import { isBootstrapped, isOfLastUpdate, refuseRemains, statusOf } from './aws.ts';
import { checkedOutBuild, refuseChanges } from './build.ts';
import { run, smokeTest } from './smoke.ts';
import { lostTables, requiredConcurrency, templateSchema } from './template.ts';

interface Options {
  readonly stage: AnyStageName;
  readonly rollBack: boolean;
  readonly allowTableLoss: readonly string[];
  readonly dryRun: boolean;
}

/** `npm run deploy`: deploys a stage to AWS, manually and in the workflows. */
const command = new Command('npm run deploy --')
  .description('Deploy a stage from this commit, and run the smoke test. Safe to interrupt and to repeat.')
  .requiredOption('--stage <stage>', STAGE_NAMES, parseStage)
  .option(
    '--roll-back',
    'roll back to this commit: cancel an update in progress, and shift all traffic immediately',
    false,
  )
  .option('--lose, --allow-table-loss <table...>', 'allow the loss of these tables and their data (logical ids)', [])
  .option('--dry-run', 'show the difference to the deployed stack (cdk diff), and stop', false)
  .addHelpText('after', '\nExample:\n  npm run deploy -- --stage staging --dry-run')
  .addHelpText('after', '\nStatus: runs locally and on emulators, not yet deployed to an AWS account.')
  .configureOutput({ outputError: () => undefined })
  .exitOverride();

const assembly = mkdtempSync(join(tmpdir(), 'assembly-'));
process.once('exit', () => rmSync(assembly, { recursive: true }));

const outputsSchema = v.record(v.string(), v.record(v.string(), v.string()));

/** Exit status of a failure: 3 once the stage may have changed. The workflow then rolls back. */
let failed = 1;

// The running step is interrupted as well; the key of the smoke test is revoked nevertheless.
process.on('SIGINT', () => process.stderr.write('Interrupted. CloudFormation completes the update in progress.\n'));
try {
  const options = command.parse().opts<Options>();
  await prepare(options);
  if (options.dryRun) await run('cdk', ['diff', `${options.stage}/*`, '--app', assembly, '--method', 'template']);
  else {
    failed = 3;
    await deploy(options);
  }
} catch (error) {
  const isUsage = error instanceof CommanderError;
  const text = isUsage ? `${error.message} (see npm run deploy -- --help)` : failureText(error, 'run it again');
  if (!isUsage || error.exitCode !== 0) process.stderr.write(`${visibleLines(text ?? String(error))}\n`);
  process.exitCode = isUsage ? error.exitCode : failed;
}

/** Runs all checks, and synthesizes. For a rollback, cancels an update in progress. */
async function prepare({ stage, rollBack, allowTableLoss, dryRun }: Options): Promise<void> {
  if (!dryRun) refuseChanges(stage, checkedOutBuild());
  // The pipeline deploys production after staging, so it checks both first. A rollback is never stopped.
  const checked = process.env['CI'] && stage === 'staging' ? [stage, 'production' as const] : [stage];
  const [missing] = checked.flatMap((each) => missingAlarmTargets(settingsOf(each)) ?? []);
  if (missing && !rollBack && !dryRun) throw new AdminError(`${missing}. Nothing was deployed.`);
  const { place, user } = await findAccount();
  process.stdout.write(`Account: ${place}, as ${user}\n`);
  const name = stackNameOf(stage);
  if (!dryRun) await refuseRemains(name);
  if (!dryRun && rollBack) await cancelUpdate(name);
  const context = [...(isPersonal(stage) ? [`stage=${stage}`] : []), ...(rollBack ? ['rollout=allAtOnce'] : [])];
  await run('cdk', ['synth', '--quiet', '--output', assembly, ...context.flatMap((one) => ['--context', one])]);
  const { template } = new CloudAssembly(assembly).stacksRecursively.find(({ stackName }) => stackName === name) ?? {};
  const next = v.parse(templateSchema, template);
  if (await statusOf(name)) {
    const lost = lostTables(v.parse(templateSchema, await deployedTemplate(name)), next);
    const refused: string[] = [];
    for (const id of lost.filter((each) => !allowTableLoss.includes(each))) {
      // The release that is rolled back created it: the older one has no data there.
      if (!rollBack || !(await isOfLastUpdate(name, id))) refused.push(id);
    }
    refuseLoss(stage, refused);
  } else {
    await checkQuota(requiredConcurrency(next));
    if (!dryRun) await checkBootstrap(stage, place);
  }
}

/** @throws AdminError if there is one */
function refuseLoss(stage: AnyStageName, lost: readonly string[]): void {
  const why = 'this commit lacks them, or changes their keys, so the service could not read their data';
  if (lost.length > 0)
    throw new AdminError(
      `${stage} would lose ${lost.join(', ')}: ${why}. To deploy anyway: --allow-table-loss ${lost.join(' ')}`,
    );
}

/** @throws AdminError if the account and region have no CDK bootstrap */
async function checkBootstrap(stage: AnyStageName, place: string): Promise<void> {
  const { qualifier } = settingsOf(stage);
  if (await isBootstrapped(qualifier)) return;
  const own =
    qualifier === STANDARD_QUALIFIER ? '' : ` --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`;
  const how = `npx cdk bootstrap aws://${place}${own}`;
  throw new AdminError(`${place} has no CDK bootstrap. As an admin, run: ${how}. Nothing was deployed.`);
}

async function deploy({ stage }: Options): Promise<void> {
  const name = stackNameOf(stage);
  const file = join(assembly, 'outputs.json');
  const options = ['--outputs-file', file, '--require-approval', 'never'];
  await run('cdk', ['deploy', `${stage}/*`, '--app', assembly, ...options]);
  const { [name]: { GatewayUrl = '', BaseUrl = '' } = {} } = v.parse(
    outputsSchema,
    JSON.parse(readFileSync(file, 'utf8')),
  );
  await smokeTest(stage, GatewayUrl);
  process.stdout.write(
    `\nDeployed: ${BaseUrl}\nTo create a key: npm run admin -- keys create --stage ${stage} --name NAME --plan free\n`,
  );
}
