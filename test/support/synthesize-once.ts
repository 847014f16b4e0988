import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER_VARIABLE = 'SYNTHESIZED_SERVICE';

const synthesize = `
  const { synthesize } = await import(process.argv[1]);
  synthesize(process.argv[2]);
`;

/**
 * Synthesises the service for all suites. In each suite it would take seconds: Jest loads the CDK anew for every one.
 */
export default function synthesizeOnce(): void {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const script = join(import.meta.dirname, '../../infra/local/synthesize.ts');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', synthesize, script, folder],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`The service could not be synthesized: ${stderr}`);
  process.env[FOLDER_VARIABLE] = folder;
}

/** Folder of the cloud assembly that all suites share. Read only. */
export function synthesizedOnce(): string {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder === undefined) throw new Error('The service was not synthesized before the tests');
  return folder;
}
