import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsOf, type StageSettings, stages } from '../../infra/stages.ts';
import { HANG_MS } from './until.ts';

const DIRECTORY_VARIABLE = 'SYNTHESIZED_SERVICE';

const root = join(import.meta.dirname, '../..');
const certificate = (region: string) => `arn:aws:acm:${region}:111122223333:certificate/6f3a2c1e`;
const hostedZone = { id: 'Z0123456789EXAMPLE', name: 'example.com' };

/** Production with all that a stage can have beside. */
export const everything = {
  ...stages.production,
  backup: { vault: 'pets-nightly', copyTo: 'arn:aws:backup:eu-west-1:444455556666:backup-vault:pets' },
  logRetentionDays: 90,
  alarmTargets: {
    emails: ['oncall@example.com'],
    topicArns: ['arn:aws:sns:eu-central-1:111122223333:pager'],
    tickets: { emails: ['queue@example.com'], topicArns: [] },
  },
  firewall: { requestsWithoutKey: 2_000, blockedAddresses: ['192.0.2.44/32'] },
  lists: { seconds: 90, concurrency: 20 },
  apiDomain: { name: 'api.example.com', certificateArn: certificate('eu-central-1'), hostedZone },
  pageDomain: { name: 'docs.example.com', certificateArn: certificate('us-east-1'), hostedZone },
} as const satisfies StageSettings;

interface Variant {
  readonly settings: StageSettings;
  /** As of `cdk --context`. */
  readonly context?: Readonly<Record<string, string>>;
}

/** Stages beside those that are deployed. */
const variants = {
  everything: { settings: everything },
  allAtOnce: { settings: stages.production, context: { rollout: 'allAtOnce' } },
  personal: { settings: settingsOf('dev-ann') },
} as const satisfies Record<string, Variant>;
export type VariantName = keyof typeof variants;

/**
 * Makes all that `cdk deploy` takes, checked as by the CDK CLI, which hands the context over; the access of the
 * pipeline; and then the variants: each of these takes a tenth of the time of the first.
 */
const script = `
  const [, root, folder, variants] = process.argv;
  const { readFileSync, writeFileSync } = await import('node:fs');
  process.once('exit', (code) => code !== 0 && writeFileSync(folder + '/failed', ''));
  const made = (name) => writeFileSync(folder + '/made-' + name, '');
  const { createApp } = await import(root + '/infra/create-app.ts');
  const { context: ofCli } = JSON.parse(readFileSync(root + '/cdk.json', 'utf8'));
  process.env.CDK_CONTEXT_JSON = JSON.stringify(ofCli);
  process.env.CDK_OUTDIR = folder + '/service';
  await import(root + '/infra/app.ts');
  made('service');
  process.env.CDK_OUTDIR = folder + '/access';
  await import(root + '/infra/release/app.ts');
  made('access');
  delete process.env.CDK_OUTDIR;
  for (const [name, { settings, context = {} }] of Object.entries(JSON.parse(variants))) {
    process.env.CDK_CONTEXT_JSON = JSON.stringify(context);
    createApp([settings], { outdir: folder + '/' + name, pageFiles: name === 'everything' }).synth();
    made(name);
  }
`;

/**
 * Begins to synthesize the service for all suites: in each suite it would take seconds, as Jest loads the CDK anew for
 * every one. A process of its own, with nothing of an account in its environment, leaves nothing in the memory of the
 * tests, and suites that do not need it do not wait for it. It ends with this process.
 */
export function synthesizeForAllSuites(made: Readonly<Record<string, Variant>> = variants): void {
  const directory = mkdtempSync(join(tmpdir(), 'pet-store-tests-'));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(AWS|CDK)_/.test(name)));
  const args = ['--input-type=module', '--eval', script, root, directory, JSON.stringify(made)];
  const stdio = ['ignore', 'ignore', openSync(join(directory, 'messages'), 'w')] as const;
  const child = spawn(process.execPath, args, { env, stdio: [...stdio] });
  child.unref();
  process.once('exit', () => {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  process.env[DIRECTORY_VARIABLE] = join(directory, 'service');
}

/**
 * Directory of the cloud assembly that all suites share, of the access of the pipeline, or of a variant, which suites
 * alone have, once it is there. Read only. A process that is no suite makes its own at the first call.
 */
export function synthesizedOnce(variant: VariantName | 'service' | 'access' = 'service'): string {
  if (process.env[DIRECTORY_VARIABLE] === undefined) synthesizeForAllSuites({});
  const directory = join(process.env[DIRECTORY_VARIABLE] ?? '', '..');
  const deadline = performance.now() + HANG_MS;
  while (!existsSync(join(directory, `made-${variant}`))) {
    const messages = () => readFileSync(join(directory, 'messages'), 'utf8');
    if (existsSync(join(directory, 'failed'))) throw new Error(`The synthesis has failed: ${messages()}`);
    if (performance.now() > deadline)
      throw new Error(
        `The synthesis has not ended within ${HANG_MS / 60_000} minutes. So far: ${messages() || 'no output'}`,
      );
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  return join(directory, variant);
}
