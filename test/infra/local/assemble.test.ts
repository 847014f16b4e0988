import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { assemble } from '../../../infra/local/assemble.ts';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// A synthesis takes some seconds, and many more on a machine that is busy.
jest.setTimeout(120_000);

const root = temporaryFolder();

async function assembleInto(name: string): Promise<string> {
  const folder = join(root, name);
  mkdirSync(folder);
  await assemble(folder);
  return folder;
}

test('What one start has synthesised, the next one takes without a word', async () => {
  const first = await assembleInto('first');
  const told = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const second = await assembleInto('second');

  expect(told).not.toHaveBeenCalled();
  expect(readdirSync(second, { recursive: true })).toEqual(readdirSync(first, { recursive: true }));
  for (const folder of readAssembly(second).assetFolders.values()) expect(folder.startsWith(`${second}/`)).toBe(true);
});
