import { newTokenText } from '../admin/commands/key-texts.ts';
import { noticesOf } from '../admin/commands/output.ts';
import { createKey } from '../admin/keys/create-key.ts';
import { endToken } from '../admin/keys/end-token.ts';
import { listKeys } from '../admin/keys/key-view.ts';
import { addToken } from '../admin/keys/new-token.ts';
import { findTarget, type Target } from '../admin/target.ts';
import { lastCharacters, tokenName } from '../../shared/key-registry/key-tokens.ts';
import { plans } from '../../shared/keys/plans.ts';
import { type AnyStageName, isPersonal, settingsOf, stackNameOf } from '../stages.ts';
import { type Account, checkQuotas, openDecisions } from './account.ts';
import { bootstrap, confirm, findStack, run, say } from './steps.ts';

const order = { name: 'Smoke test', plan: 'free', limits: plans.free.limits } as const;
const forAnHour = () => ({ label: 'smoke-test', access: 'full', until: Date.now() + 3_600_000 }) as const;

export interface DeployOptions {
  readonly yes: boolean;
  readonly lose?: readonly string[];
  readonly url?: string;
}

/** Deploys a stage and tries it. */
export async function deployStage(account: Account, stage: AnyStageName, { yes, lose, url }: DeployOptions) {
  const settings = settingsOf(stage);
  if (!(await findStack(stackNameOf(stage)))) {
    say('Quotas', await checkQuotas(settings));
    const open = openDecisions(settings).join(', ');
    if (open !== '') await confirm(`${stage} has no ${open} (infra/stages.ts). Deploy it without?`, yes);
  }
  await bootstrap(account, settings, yes);
  const context = isPersonal(stage) ? ['--context', `stage=${stage}`] : [];
  await run('cdk', ['synth', '--quiet', '--output', 'cdk.out', ...context]);
  const meant = lose ? ['--lose', ...lose] : [];
  if (!isPersonal(stage)) await run('node', ['infra/release/changes.ts', '--stage', stage, ...meant]);
  // No run of the pipeline has built this: the stack is not to name the last one that did.
  const options = ['--no-previous-parameters', '--require-approval', 'never'];
  await run('cdk', ['deploy', `${stage}/*`, '--app', 'cdk.out', ...options]);
  const target = await findTarget({ stage }, noticesOf(`--stage ${stage}`));
  await tryOut(target, stage, url ?? target.baseUrl);
  const page = (await findStack(`${stage}-ReferenceSite`))?.['ReferencePageUrl'];
  process.stdout.write(`
  Base URL   ${target.baseUrl}
  Reference  ${page ?? 'not on this stage'}
  A key      npm run admin -- keys create --stage ${stage} --name NAME --plan free
  Its end    npx cdk destroy ${[`'${stage}/*'`, ...context].join(' ')} (docs/operating/leaving.md says what stays)
`);
}

/** Runs the smoke test with a key that is issued once, or else with a token of it that ends with the test. */
async function tryOut(target: Target, stage: AnyStageName, url: string): Promise<void> {
  // Otherwise Ctrl-C could leave a key that was never shown, or stock that is not put back.
  process.removeAllListeners('SIGINT').on('SIGINT', () => say('Smoke test', 'It puts back what it changes, and ends.'));
  const shown = (await listKeys(target)).filter(({ tokens }) => tokens.some(({ neverShown }) => !neverShown));
  const key = shown.find(({ name, state }) => name === order.name && state === 'active');
  const token = await (key ? addToken(target, key.id, forAnHour()) : createKey(target, order));
  const hint = `For another token: npm run admin -- keys rotate ${token.id} --stage ${stage}`;
  if (key || !process.stdout.isTTY) say('Key', `${order.name} (${token.id}) is there. ${hint}`);
  else process.stdout.write(`${newTokenText(token, target.baseUrl)}\n\n`);
  if (!key) await token.confirmShown();
  const smoke = ['test/smoke/main.ts', '--url', url, ...(stage === 'production' ? ['--read-only'] : [])];
  try {
    await run('node', smoke, { PET_STORE_API_KEY: token.key });
  } finally {
    if (key) await endToken(target, key.id, tokenName({ ...token, last: lastCharacters(token.key) }));
  }
}
