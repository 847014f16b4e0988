import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { messageOf } from '../../../shared/log.ts';
import { HostError, writeNotice } from '../host-error.ts';

const projectRoot = join(import.meta.dirname, '../../..');

/** Cache of the last start's assembly. `npm ci` deletes it. */
const cacheDirectory = join(projectRoot, 'node_modules/.cache/pet-store-assembly');

/**
 * Writes the service's cloud assembly to a directory: that of an earlier start if no source has changed since, else a
 * new one.
 *
 * @throws HostError if the CDK app fails
 */
export async function assemble(directory: string): Promise<void> {
  const hash = sourceHash(projectRoot);
  const cached = join(cacheDirectory, hash);
  if (existsSync(cached)) return cpSync(cached, directory, { recursive: true });
  writeNotice('Synthesizing the service. The next start is faster, until a source changes.');
  await synthesize(directory);
  try {
    // A source that was saved meanwhile may be in the assembly, and not in the hash.
    if (sourceHash(projectRoot) === hash) keep(directory, cached);
  } catch (error) {
    writeNotice(`The synthesized template was not cached: ${messageOf(error)}`);
  }
}

async function synthesize(directory: string): Promise<void> {
  // The environment must not affect the cached assembly.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CDK_')));
  const synthesizer = join(import.meta.dirname, 'synthesize.ts');
  const child = spawn(process.execPath, [synthesizer, directory], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const kill = (): void => void child.kill();
  // For a server that is stopped meanwhile.
  process.once('exit', kill);
  const [exitCode]: unknown[] = await once(child, 'exit');
  process.off('exit', kill);
  if (exitCode !== 0) throw new HostError('The service cannot be synthesized');
}

/** Caches an assembly atomically for the next start, and deletes others. */
function keep(directory: string, cached: string): void {
  const unfinished = `${cached}.${process.pid}`;
  mkdirSync(cacheDirectory, { recursive: true });
  cpSync(directory, unfinished, { recursive: true });
  // Another server may have been faster.
  if (existsSync(cached)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, cached);
  const kept = readdirSync(cacheDirectory).map((name) => join(cacheDirectory, name));
  for (const path of kept.filter((each) => each !== cached)) rmSync(path, { recursive: true, force: true });
}

/** The sources of a cloud assembly, in addition to the packages in the lock file. */
const DIRECTORIES = ['functions', 'infra', 'shared'];
const FILES = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** A hash of all inputs of an assembly: sources, packages, the version of Node.js. */
export function sourceHash(root: string): string {
  const hash = createHash('sha256').update(process.version);
  for (const path of [...FILES, ...DIRECTORIES.flatMap((directory) => filesIn(root, directory))]) {
    const content = readFileSync(join(root, path));
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Sorted paths of the files below a directory, without installed or built ones. */
function filesIn(root: string, directory: string): string[] {
  const entries = readdirSync(join(root, directory), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const paths = files.map((file) => relative(root, file));
  return paths.filter((path) => !/(?:^|\/)(?:node_modules|dist|\.[^/]*)(?:\/|$)/.test(path)).toSorted();
}
