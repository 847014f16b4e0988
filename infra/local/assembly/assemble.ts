import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../../shared/log.ts';
import { stackNameOf } from '../../stages.ts';
import { makeWithParents } from '../directories.ts';
import { LocalServerError, writeNotice } from '../local-server-error.ts';

export const projectRoot = join(import.meta.dirname, '../../..');

/**
 * Returns a directory with the service's cloud assembly: a copy of the last start's if no source has changed since, else
 * a new one.
 *
 * @param temporary where it is written
 * @param signal ends the synthesis
 * @throws LocalServerError if the CDK app fails
 */
export async function assemble(temporary: string, signal?: AbortSignal): Promise<string> {
  const hash = sourceHash(projectRoot);
  // `npm ci` deletes it.
  const cached = join(projectRoot, 'node_modules/.cache/pet-store-assembly', hash);
  const copy = mkdtempSync(join(temporary, 'copy-'));
  if (isCopied(cached, copy)) return copy;
  writeNotice('Synthesizing the service. The next start is faster, until a source changes.');
  const directory = mkdtempSync(join(temporary, 'assembly-'));
  await synthesize(directory, temporary, signal);
  try {
    // A source that was saved meanwhile may be in the assembly, and not in the hash.
    if (sourceHash(projectRoot) === hash) keep(directory, cached);
  } catch (error) {
    writeNotice(`The synthesized template was not cached: ${messageOf(error)}`);
  }
  return directory;
}

/** Whether a cached assembly was copied, before another server has replaced it. */
function isCopied(cached: string, copy: string): boolean {
  try {
    cpSync(cached, copy, { recursive: true });
    return existsSync(cached);
  } catch {
    return false;
  }
}

async function synthesize(directory: string, TMPDIR: string, signal: AbortSignal | undefined): Promise<void> {
  // The environment must not affect the cached assembly.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CDK_')));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'synthesize.ts'), directory], {
    env: { ...env, TMPDIR },
    stdio: ['ignore', 'ignore', 'inherit'],
    // In a process group of its own, so that the bundler, which it starts, ends with it.
    detached: true,
  });
  // It would handle another signal only at its end, and write to a deleted directory until then.
  const kill = (): void => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, 'SIGKILL');
  };
  // For a server that is stopped meanwhile, before it deletes its temporary directory.
  process.prependOnceListener('exit', kill);
  signal?.addEventListener('abort', kill);
  const [exitCode]: (number | null)[] = await once(child, 'exit');
  process.off('exit', kill);
  signal?.throwIfAborted();
  if (exitCode !== 0) throw new LocalServerError('The service cannot be synthesized');
}

/** Caches an assembly for the next start, in place of all others. */
export function keep(directory: string, cached: string): void {
  const cache = dirname(cached);
  makeWithParents(cache);
  const next = `${cached}.${randomUUID()}`;
  cpSync(directory, next, { recursive: true });
  for (const name of readdirSync(cache).filter((each) => each !== basename(next))) {
    // Renamed first, so that a server notices that its copy may be incomplete.
    renameSync(join(cache, name), `${next}.old`);
    rmSync(`${next}.old`, { recursive: true });
  }
  renameSync(next, cached);
}

/** A hash of all inputs of an assembly: sources, packages in the lock file, the version of Node.js. */
export function sourceHash(root: string): string {
  const hash = createHash('sha256').update(process.version);
  const sources = ['functions', 'infra', 'shared'].flatMap((directory) => filesIn(root, directory));
  for (const path of ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json', ...sources]) {
    const content = readFileSync(join(root, path));
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Sorted paths of the sources below a directory. */
function filesIn(root: string, directory: string): string[] {
  const entries = readdirSync(join(root, directory), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(root, join(parentPath, name)));
  return paths.filter(isSource).toSorted();
}

/** Whether the file at a path is no installed or built one. */
export const isSource = (path: string): boolean => !/(?:^|\/)(?:node_modules|dist|\.[^/]*)(?:\/|$)/.test(path);

/** The stack whose template the local server runs. */
const STACK = stackNameOf('staging');

const propertiesSchema = v.partial(v.object({ stackName: v.string(), templateFile: v.string() }));
const manifestSchema = v.object({
  artifacts: v.record(v.string(), v.object({ properties: v.optional(propertiesSchema, {}) })),
});

export type SynthesizedStack = ReturnType<typeof readAssembly>;

/** Reads the service from a cloud assembly. @throws LocalServerError if the assembly does not have it */
export function readAssembly(directory: string) {
  const stageDirectory = join(directory, 'assembly-staging');
  const { artifacts } = v.parse(manifestSchema, readJson(join(stageDirectory, 'manifest.json')));
  const stack = Object.values(artifacts).find(({ properties }) => properties.stackName === STACK);
  const templateFile = stack?.properties.templateFile;
  if (templateFile === undefined) throw new LocalServerError(`The cloud assembly ${directory} has no stack ${STACK}`);
  return {
    name: STACK,
    template: readJson(join(stageDirectory, templateFile)),
    /** The directory of the function's code with this key in the asset bucket. */
    codeDirectory: (key: string): string => join(directory, `asset.${basename(key, '.zip')}`),
  };
}

function readJson(file: string): unknown {
  if (!existsSync(file)) throw new LocalServerError(`The cloud assembly has no file ${file}`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
