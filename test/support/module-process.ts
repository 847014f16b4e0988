import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

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
