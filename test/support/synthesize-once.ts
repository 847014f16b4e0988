import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import type { StageSettings } from '../../infra/stages.ts';

const FOLDER_VARIABLE = 'SYNTHESIZED_SERVICE';

const bothStages = `
  for (const name of Object.keys(process.env)) if (/^(AWS|CDK)_/.test(name)) delete process.env[name];
  const [, root, outdir] = process.argv;
  const { createApp } = await import(root + '/infra/create-app.ts');
  const { stages } = await import(root + '/infra/stages.ts');
  createApp(Object.values(stages), { outdir }).synth();
`;

/** Synthesises all that `cdk deploy` takes, with nothing of an account in the environment. */
export function synthesizeInto(folder: string): void {
  runModule(bothStages, folder);
}

/** Synthesises the service for all suites. In each suite it would take seconds: Jest loads the CDK anew for every one. */
export function synthesizeForAllSuites(): void {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  synthesizeInto(folder);
  process.env[FOLDER_VARIABLE] = folder;
}

/** Folder of the cloud assembly that all suites share. Read only. A process that is no suite makes its own at the first call. */
export function synthesizedOnce(): string {
  if (process.env[FOLDER_VARIABLE] === undefined) synthesizeForAllSuites();
  return process.env[FOLDER_VARIABLE] ?? '';
}

const oneStage = `
  const [, root, outdir, settings, referencePage] = process.argv;
  const { createApp } = await import(root + '/infra/create-app.ts');
  createApp([JSON.parse(settings)].flat(), { outdir, referencePage: referencePage === 'true' }).synth();
`;

/**
 * Synthesises one stage, or both, with settings of their own.
 *
 * @throws Error with what the CDK says where the settings cannot be
 */
export function synthesizeStage(
  folder: string,
  settings: StageSettings | readonly StageSettings[],
  { referencePage = false } = {},
): void {
  runModule(oneStage, folder, JSON.stringify(settings), String(referencePage));
}

const root = join(import.meta.dirname, '../..');

/**
 * Runs the text of an ES module in a process of its own: what loads the CDK is soon done there, and leaves nothing in
 * the memory of the tests.
 *
 * @param args are `process.argv` from its second entry on, after the folder of the project
 */
export function runModule(text: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', text, root, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The module has failed: ${stderr}`);
}
