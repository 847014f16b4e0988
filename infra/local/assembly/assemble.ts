import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { messageOf } from '../../../shared/log.ts';
import { HostError, writeNotice } from '../host-error.ts';

const projectRoot = join(import.meta.dirname, '../../..');

/** Of the assembly that the last start made. What `npm ci` installs anew takes it along. */
const cacheDirectory = join(projectRoot, 'node_modules/.cache/pet-store-assembly');

/**
 * Puts the service's cloud assembly into a folder: that of an earlier start where no source has changed since, else a
 * new one.
 *
 * @throws HostError where the CDK app fails
 */
export async function assemble(directory: string): Promise<void> {
  const cached = join(cacheDirectory, sourceHash(projectRoot));
  if (existsSync(cached)) return cpSync(cached, directory, { recursive: true });
  writeNotice('Synthesizing the service. The next start is faster, until a source changes.');
  await synthesize(directory);
  try {
    keep(directory, cached);
  } catch (error) {
    writeNotice(`The synthesized template was not cached: ${messageOf(error)}`);
  }
}

async function synthesize(directory: string): Promise<void> {
  // What the CDK app would take from the environment must not get into what is kept.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CDK_')));
  const synthesizer = join(import.meta.dirname, 'synthesize.ts');
  const child = spawn(process.execPath, [synthesizer, directory], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const kill = (): void => void child.kill();
  // For a host that is stopped meanwhile.
  process.once('exit', kill);
  const [exitCode]: unknown[] = await once(child, 'exit');
  process.off('exit', kill);
  if (exitCode !== 0) throw new HostError('The service cannot be synthesized');
}

/** Keeps an assembly for the next start, whole or not at all, and no other one. */
function keep(directory: string, cached: string): void {
  const unfinished = `${cached}.${process.pid}`;
  mkdirSync(cacheDirectory, { recursive: true });
  cpSync(directory, unfinished, { recursive: true });
  // Another host may have been quicker.
  if (existsSync(cached)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, cached);
  const kept = readdirSync(cacheDirectory).map((name) => join(cacheDirectory, name));
  for (const path of kept.filter((each) => each !== cached)) rmSync(path, { recursive: true, force: true });
}

/** What a cloud assembly is made from, beside the packages that the lock file names. */
const DIRECTORIES = ['functions', 'infra', 'shared'];
const FILES = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** A hash over all that the assembly of a project depends on: its sources, its packages, the version of Node.js. */
export function sourceHash(root: string): string {
  const hash = createHash('sha256').update(process.version);
  for (const path of [...FILES, ...DIRECTORIES.flatMap((directory) => filesIn(root, directory))]) {
    const content = readFileSync(join(root, path));
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Paths of the files below a folder, in an order of their own, without what others have installed or built there. */
function filesIn(root: string, directory: string): string[] {
  const entries = readdirSync(join(root, directory), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const paths = files.map((file) => relative(root, file));
  return paths.filter((path) => !/(?:^|\/)(?:node_modules|dist|\.[^/]*)(?:\/|$)/.test(path)).toSorted();
}
