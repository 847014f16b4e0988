import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a cloud assembly is made from, beside the packages that the lock file names. */
const FOLDERS = ['functions', 'infra', 'shared'];
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json'];

/** A hash over all that the assembly of a project depends on: its sources, its packages, the version of Node.js. */
export function sourceHash(root: string): string {
  const hash = createHash('sha256').update(process.version);
  for (const path of [...FILES, ...FOLDERS.flatMap((folder) => filesIn(root, folder))]) {
    const content = readFileSync(join(root, path));
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Paths of the files below a folder, in an order of their own, without what others have installed or built there. */
function filesIn(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist' && !name.startsWith('.'))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(root, path) : [path];
    });
}
