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

/** `npm run deploy`: brings a stage to AWS, by hand and in the workflows. */
const command = new Command('npm run deploy --')
  .description('Deploys a stage from this commit, and tries it. It is safe to interrupt and to run again.')
  .requiredOption('--stage <stage>', STAGE_NAMES, parseStage)
  .option('--roll-back', 'go back to this commit: cancel an update that is under way, and switch all at once', false)
  .option('--lose, --allow-table-loss <table...>', 'logical ids of tables whose data the stage may lose', [])
  .option('--dry-run', 'show the difference from what is deployed (cdk diff), and stop', false)
  .addHelpText('after', '\nExample:\n  npm run deploy -- --stage staging --dry-run')
  .addHelpText('after', '\nStatus: runs locally and on emulators, not yet deployed to an AWS account.')
  .configureOutput({ outputError: () => undefined })
  .exitOverride();

const assembly = mkdtempSync(join(tmpdir(), 'assembly-'));
process.once('exit', () => rmSync(assembly, { recursive: true }));

const outputsSchema = v.record(v.string(), v.record(v.string(), v.string()));

/** Exit status of a failure: 3 once the stage may have changed. The workflow then goes back. */
let failed = 1;

// What runs is interrupted as well; the key of the smoke test is revoked all the same.
process.on('SIGINT', () => process.stderr.write('Interrupted. CloudFormation ends what it has begun.\n'));
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

/** Checks all that can be checked, and synthesizes. Of the stage it ends an update that is under way, to go back. */
async function prepare({ stage, rollBack, allowTableLoss, dryRun }: Options): Promise<void> {
  if (!dryRun) refuseChanges(stage, checkedOutBuild());
  // The pipeline deploys production after staging: it would begin what it cannot end. A way back is not stopped.
  const checked = process.env['CI'] && stage === 'staging' ? [stage, 'production' as const] : [stage];
  const [missing] = checked.flatMap((each) => missingAlarmTargets(settingsOf(each)) ?? []);
  if (missing && !rollBack && !dryRun) throw new AdminError(`${missing}. Nothing had begun.`);
  const { place, user } = await findAccount();
  process.stdout.write(`Account: ${place}, as ${user}\n`);
  const names = ['ReferenceSite', 'Inventory', 'ReferenceContent'].map((part) => `${stage}-${part}`);
  for (const each of dryRun ? [] : names) {
    await refuseRemains(each);
    if (rollBack) await cancelUpdate(each);
  }
  const context = [...(isPersonal(stage) ? [`stage=${stage}`] : []), ...(rollBack ? ['rollout=allAtOnce'] : [])];
  await run('cdk', ['synth', '--quiet', '--output', assembly, ...context.flatMap((one) => ['--context', one])]);
  const name = stackNameOf(stage);
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

/** @throws AdminError where there is one */
function refuseLoss(stage: AnyStageName, lost: readonly string[]): void {
  const why = 'this commit has none of that name, or one with other keys: the service would no longer see their data';
  if (lost.length > 0)
    throw new AdminError(
      `${stage} would lose ${lost.join(', ')}: ${why}. To deploy anyway: --allow-table-loss ${lost.join(' ')}`,
    );
}

/** @throws AdminError where the CDK has not been used in the account and region */
async function checkBootstrap(stage: AnyStageName, place: string): Promise<void> {
  const { qualifier } = settingsOf(stage);
  if (await isBootstrapped(qualifier)) return;
  const own =
    qualifier === STANDARD_QUALIFIER ? '' : ` --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`;
  const how = `npx cdk bootstrap aws://${place}${own}`;
  throw new AdminError(`${place} has no bootstrap of the CDK. An admin makes it: ${how}. Nothing had begun.`);
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
    `\nDeployed: ${BaseUrl}\nA key: npm run admin -- keys create --stage ${stage} --name NAME --plan free\n`,
  );
}
