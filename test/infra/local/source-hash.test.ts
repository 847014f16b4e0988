import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sourceHash } from '../../../infra/local/source-hash.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder();
const sources = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'functions/a.ts',
  'infra/stack/b.ts',
  'shared/c.ts',
];

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe('The hash of the sources', () => {
  beforeEach(() => {
    for (const folder of ['functions', 'infra', 'shared']) rmSync(join(root, folder), { recursive: true, force: true });
    for (const path of sources) write(path, 'as it was');
  });

  test.each(sources)('changes with %s', (path) => {
    const before = sourceHash(root);
    write(path, 'as it is');

    expect(sourceHash(root)).not.toBe(before);
  });

  test.each<[string, () => void]>([
    ['is added', () => write('shared/new.ts', '')],
    ['goes', () => rmSync(join(root, 'shared/c.ts'))],
    ['gets another name', () => renameSync(join(root, 'shared/c.ts'), join(root, 'shared/d.ts'))],
  ])('changes where a file %s', (_, change) => {
    const before = sourceHash(root);
    change();

    expect(sourceHash(root)).not.toBe(before);
  });

  test.each(['shared/client/node_modules/a.js', 'shared/client/dist/a.js', 'shared/.a.ts.swp', 'docs/a.md'])(
    'stays as it is with %s',
    (path) => {
      const before = sourceHash(root);
      write(path, '');

      expect(sourceHash(root)).toBe(before);
    },
  );
});
