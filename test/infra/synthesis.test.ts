import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { synthesizedOnce, synthesizeInto } from '../support/synthesize-once.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Every file of an assembly, by its SHA-256. */
function filesOf(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .toSorted();
  return new Map(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(path.join(folder, file)))
        .digest('hex'),
    ]),
  );
}

const first = synthesizedOnce();
const second = temporaryFolder();

test('Two syntheses of both stages are the same, byte by byte', () => {
  synthesizeInto(second);
  const files = filesOf(first);

  expect(files.size).toBeGreaterThan(30);
  expect(files).toEqual(filesOf(second));
});

test('A synthesis wants nothing to be looked up', () => {
  const manifests = [...filesOf(first).keys()].filter((file) => path.basename(file) === 'manifest.json');

  expect(manifests).toHaveLength(3);
  for (const manifest of manifests) {
    expect(JSON.parse(readFileSync(path.join(first, manifest), 'utf8'))).not.toHaveProperty('missing');
  }
});
