import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runModule } from './module-process.ts';

const FOLDER_VARIABLE = 'SYNTHESIZED_SERVICE';

const bothStages = `
  const [, root, outdir] = process.argv;
  const { createApp } = await import(root + '/infra/create-app.ts');
  const { stages } = await import(root + '/infra/stages.ts');
  createApp(Object.values(stages), { outdir, referencePage: false }).synth();
`;

/** Synthesises both stages of the service, without the stacks of the reference page. */
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

/** Folder of the cloud assembly that all suites share. Read only. */
export function synthesizedOnce(): string {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder === undefined) throw new Error('The service was not synthesized before the tests');
  return folder;
}
