import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { Command, CommanderError } from 'commander';
import { AdminError, failureText } from '../admin/admin-error.ts';
import { confirm } from '../admin/commands/confirm.ts';
import { parseStage } from '../admin/commands/options.ts';
import { visibleLines } from '../admin/text-format.ts';
import { type AnyStageName, isPersonal, settingsOf, STAGE_NAMES, stackNameOf } from '../stages.ts';
import { cancelUpdate, checkQuotas, findAccount, findStack, lostTables } from './aws.ts';
import { issueKey, output, revokeKey, run, sendTraffic, smokeTest } from './smoke.ts';

interface Options {
  readonly stage: AnyStageName;
  readonly rollBack: boolean;
  readonly lose: readonly string[];
  readonly url?: string;
  readonly yes: boolean;
}

/** `npm run deploy`: brings a stage to AWS, by hand and in the workflows. */
const command = new Command('npm run deploy --')
  .description('Deploys a stage from this commit, and tries it. It is safe to interrupt and to run again.')
  .requiredOption('--stage <stage>', STAGE_NAMES, parseStage)
  .option('--roll-back', 'go back to this commit: cancel an update that is under way, and switch all at once', false)
  .option('--lose <table...>', 'tables that the stage may lose, by their logical ids', [])
  .option('--url <url>', 'where the smoke test finds the API, if not at its own address yet')
  .option('--yes', 'do not ask', false)
  .configureOutput({ outputError: () => undefined })
  .exitOverride();

const assembly = mkdtempSync(join(tmpdir(), 'assembly-'));
process.once('exit', () => rmSync(assembly, { recursive: true }));

/** Exit status of a failure: 3 once the stage may have changed. The workflow then goes back. */
let failed = 1;

// What runs is interrupted as well; the key of the smoke test is revoked all the same.
process.on('SIGINT', () => process.stderr.write('Interrupted. CloudFormation ends what it has begun.\n'));
try {
  const options = command.parse().opts<Options>();
  await deploy(options, await prepare(options));
} catch (error) {
  const isUsage = error instanceof CommanderError;
  const text = isUsage ? `${error.message} (see npm run deploy -- --help)` : failureText(error, 'run it again');
  if (!isUsage || error.exitCode !== 0) process.stderr.write(`${visibleLines(text ?? String(error))}\n`);
  process.exitCode = isUsage ? error.exitCode : failed;
}

/** Checks all that can be checked, and synthesises. @returns outputs of the stage, where it is there */
async function prepare({ stage, rollBack, lose, yes }: Options): Promise<Record<string, string> | undefined> {
  const [{ place, user }, stack, settings] = [await findAccount(), stackNameOf(stage), settingsOf(stage)];
  process.stdout.write(`Account: ${place}, as ${user}\n`);
  const stacks = ['ReferenceSite', 'Inventory', 'ReferenceContent'].map((name) => `${stage}-${name}`);
  if (rollBack) for (const name of stacks) await cancelUpdate(name);
  const before = await findStack(stack);
  if (!before) await checkQuotas(settings);
  const toolkit = `CDKToolkit-${settings.qualifier}`;
  if (!(await findStack(toolkit))) {
    if (!yes) await confirm(`Bootstrap ${place} for ${stage}? CloudFormation may then do anything there.`);
    await run('cdk', [
      'bootstrap',
      `aws://${place}`,
      '--qualifier',
      settings.qualifier,
      '--toolkit-stack-name',
      toolkit,
    ]);
  }
  const context = [...(isPersonal(stage) ? [`stage=${stage}`] : []), ...(rollBack ? ['rollout=allAtOnce'] : [])];
  await run('cdk', ['synth', '--quiet', '--output', assembly, ...context.flatMap((one) => ['--context', one])]);
  const { template } = new CloudAssembly(assembly).stacksRecursively.find(({ stackName }) => stackName === stack) ?? {};
  const lost = before ? (await lostTables(stack, template)).filter((id) => !lose.includes(id)) : [];
  if (lost.length === 0) return before;
  const why =
    'this commit has none of that name, or one with other keys, so that the service would no longer see their data';
  throw new AdminError(`${stage} would lose ${lost.join(', ')}: ${why}. If that is meant: --lose ${lost.join(' ')}`);
}

async function deploy({ stage, url }: Options, before: Record<string, string> | undefined): Promise<void> {
  const { stdout: commit } = await output('git', ['rev-parse', 'HEAD']).catch(() => ({ stdout: 'none' }));
  const build = ['--parameters', `${stackNameOf(stage)}:BuildId=${commit.trim()}`];
  failed = 3;
  // The release that runs may be one that this command issues no keys of.
  let key = before && (await issueKey(stage).catch(() => undefined));
  try {
    const over = new AbortController();
    const traffic = key && sendTraffic(key, over.signal);
    await run('cdk', ['deploy', `${stage}/*`, '--app', assembly, ...build, '--require-approval', 'never'])
      .catch((error: unknown) => explain(error, stage))
      .finally(() => over.abort());
    await traffic;
    key ??= await issueKey(stage);
    await smokeTest({ ...key, baseUrl: url ?? key.baseUrl }, stage === 'production');
  } finally {
    if (key) await revokeKey(stage, key.id);
  }
  process.stdout.write(
    `\nDeployed: ${key.baseUrl}\nA key: npm run admin -- keys create --stage ${stage} --name NAME --plan free\n`,
  );
}

/** The site of the page comes first, and AWS lets no account have one that it has not verified. */
async function explain(error: unknown, stage: AnyStageName): Promise<never> {
  if (!settingsOf(stage).page || (await findStack(`${stage}-ReferenceSite`))) throw error;
  const how = 'If CloudFront wants a verified account: set page: false in infra/stages.ts, or ask AWS Support';
  throw new AdminError(`The stack ${stage}-ReferenceSite was not made. ${how}. Then run the same command again.`);
}
