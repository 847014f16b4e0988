import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import type { StageSettings } from '../../infra/stages.ts';

const FOLDER_VARIABLE = 'SYNTHESIZED_SERVICE';

const root = join(import.meta.dirname, '../..');

/**
 * Runs the text of an ES module in a process of its own, with nothing of an account in the environment: what loads the
 * CDK is soon done there, and leaves nothing in the memory of the tests. The module has `root`, the folder of the project.
 *
 * @param argument for the module, as `argument`
 * @returns what it has written
 */
function runModule(text: string, argument: unknown): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(AWS|CDK)_/.test(name)));
  const script = `const root = process.argv[1]; const argument = JSON.parse(process.argv[2]);\n${text}`;
  const args = ['--input-type=module', '--eval', script, root, JSON.stringify(argument)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`The module has failed: ${stderr}`);
  return stdout;
}

/** All that `cdk deploy` takes. */
const all = `
  const { createApp } = await import(root + '/infra/create-app.ts');
  const { PipelineAccess } = await import(root + '/infra/release/pipeline-access.ts');
  const { stages } = await import(root + '/infra/stages.ts');
  const app = createApp(Object.values(stages), { outdir: argument.folder });
  new PipelineAccess(app, 'PipelineAccess');
  app.synth();
`;

/** Synthesises the service for all suites. In each suite it would take seconds: Jest loads the CDK anew for every one. */
export function synthesizeForAllSuites(): void {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  runModule(all, { folder });
  process.env[FOLDER_VARIABLE] = folder;
}

/** Folder of the cloud assembly that all suites share. Read only. A process that is no suite makes its own at the first call. */
export function synthesizedOnce(): string {
  if (process.env[FOLDER_VARIABLE] === undefined) synthesizeForAllSuites();
  return process.env[FOLDER_VARIABLE] ?? '';
}

const several = `
  const { createApp } = await import(root + '/infra/create-app.ts');
  const refusals = {};
  for (const [name, settings] of Object.entries(argument.apps)) {
    process.env.CDK_CONTEXT_JSON = JSON.stringify(argument.contexts[name] ?? {});
    try {
      createApp(settings, { outdir: argument.folder + '/' + name, referencePage: argument.referencePage }).synth();
    } catch (error) {
      refusals[name] = error.message;
    }
  }
  console.log(JSON.stringify(refusals));
`;

interface SynthesisOptions {
  readonly referencePage?: boolean;
  /** By the names of the apps. */
  readonly contexts?: Readonly<Record<string, object>>;
}

/**
 * Synthesises stages with settings of their own, each app into a folder of its name. All are made in one process, where
 * the second is done in a tenth of the time of the first. An app may have a context, as of `cdk --context`.
 *
 * @returns by the names of the apps whose settings cannot be, why
 */
export function synthesizeApps(
  folder: string,
  apps: Readonly<Record<string, readonly StageSettings[]>>,
  { referencePage = false, contexts = {} }: SynthesisOptions = {},
): Readonly<Record<string, string>> {
  const refusals = runModule(several, { folder, apps, referencePage, contexts });
  return v.parse(v.record(v.string(), v.string()), JSON.parse(refusals));
}
