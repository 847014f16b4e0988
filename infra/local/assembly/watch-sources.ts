import { readdirSync, readFileSync, rmSync, statSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LocalServerError, writeNotice } from '../local-server-error.ts';
import { assemble, isSource, projectRoot, readAssembly, type SynthesizedStack } from './assemble.ts';

/** Debounce for editors that save a file in several steps. */
const SAVED_AFTER_MS = 50;

/**
 * Follows saves in `functions/` and `shared/`. It runs once without a save. Each save ends the previous run.
 *
 * @param bundle runs each time
 * @param synthesize runs after a bundle, unless saves since the last synthesis were in `functions/` only
 * @returns stops
 */
export function followSaves(
  root: string,
  bundle: () => Promise<void>,
  synthesize: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  let templateMayDiffer = true;
  let current = new AbortController();
  let last = Promise.resolve();
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      if (!signal.aborted) await bundle();
      if (templateMayDiffer && !signal.aborted) await synthesize(signal);
      if (!signal.aborted) templateMayDiffer = false;
    } catch (error) {
      if (error instanceof LocalServerError) writeNotice(error.message);
      // esbuild has printed its errors.
      else if (!signal.aborted && !(error instanceof Error && 'errors' in error)) throw error;
    }
  };
  const runLater = (): void => {
    current.abort();
    const { signal } = (current = new AbortController());
    last = Promise.all([last, setTimeout(SAVED_AFTER_MS)]).then(() => run(signal));
  };
  const watching = new AbortController();
  // Node.js's recursive watcher loses files that an editor replaces.
  const watchDirectory = (directory: string): void => {
    watch(join(root, directory), { signal: watching.signal }, (event, name) => {
      const path = join(directory, name ?? '');
      if (!isSource(path)) return;
      templateMayDiffer ||= path.startsWith('shared');
      const isNew = event === 'rename' && statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory();
      if (isNew) watchDirectory(path);
      runLater();
    });
    const entries = readdirSync(join(root, directory), { withFileTypes: true });
    for (const { name } of entries.filter((each) => each.isDirectory() && isSource(each.name)))
      watchDirectory(join(directory, name));
  };
  for (const directory of ['functions', 'shared']) watchDirectory(directory);
  runLater();
  return async () => {
    watching.abort();
    current.abort();
    await last;
  };
}

/**
 * Bundles and synthesizes the service, and does so again after saves.
 *
 * @param temporary directory for bundles and assemblies
 * @param reload called with new bundles, in the same directories
 * @param restart called with another template
 */
export function watchSources(temporary: string, reload: () => void, restart: () => void) {
  const bundles = join(temporary, 'bundles');
  const first = Promise.withResolvers<SynthesizedStack>();
  let served: string | undefined;
  const bundle = async (): Promise<void> => {
    // Loaded on demand: the bundler uses memory.
    const { bundleFunctions, functionFiles } = await import('../../stack/bundle.ts');
    bundleFunctions(bundles, Object.keys(functionFiles()));
    if (served === undefined) return;
    reload();
    writeNotice('Reloaded the functions.');
  };
  const synthesize = async (signal: AbortSignal): Promise<void> => {
    const directory = await assemble(temporary, signal);
    const stack = readAssembly(directory);
    const template = withoutHashes(stack.template);
    if (served !== undefined) rmSync(directory, { recursive: true });
    if (served !== undefined && served !== template) restart();
    served ??= template;
    first.resolve({ ...stack, codeDirectory: (key) => join(bundles, functionNameOf(stack.codeDirectory(key))) });
  };
  return { first: first.promise, stop: followSaves(projectRoot, bundle, synthesize) };
}

/** The name of a bundled function: that of its source map, in the last line. */
function functionNameOf(codeDirectory: string): string {
  const bundle = readFileSync(join(codeDirectory, 'function.cjs'), 'utf8').trimEnd();
  return basename(bundle.slice(bundle.lastIndexOf('=') + 1), '.map');
}

/** The template without what depends on the functions' code: keys of assets, and hashes in logical ids. */
const withoutHashes = (template: unknown): string =>
  JSON.stringify(template).replaceAll(/[0-9a-f]{64}\.zip|(?<=[A-Za-z][0-9A-F]{8})[0-9a-f]{32}\b/g, '');
