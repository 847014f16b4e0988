import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { buildsOfFunctions } from '../stack/bundle.ts';
import { messageOf, writeNotice } from './host-error.ts';
import type { LambdaFunctions } from './lambda/lambda-functions.ts';

const projectRoot = join(import.meta.dirname, '../..');
/** An editor saves in several steps. */
const QUIET_MS = 50;

/** `--watch`: lets functions run what is saved. What cannot be built is reported in one line, and the code before it stays. */
export async function watchSources(functions: LambdaFunctions): Promise<void> {
  const names = new Map([...(await bundle())].map(([name, text]) => [text, name]));
  const files = functions.codeFolders.map((folder) => join(folder, 'function.cjs'));
  // The content of a bundle says whose it is.
  const fileOf = new Map(files.map((file) => [names.get(readFileSync(file, 'utf8')) ?? file, file]));
  const update = async (): Promise<void> => {
    const saved = await bundle();
    const replaced = [...fileOf].filter(([name, file]) => saved.get(name) !== readFileSync(file, 'utf8'));
    if (replaced.length === 0) return;
    for (const [name, file] of replaced) writeFileSync(file, saved.get(name) ?? '');
    await functions.stop('its code was replaced');
    writeNotice(`Replaced ${replaced.map(([name]) => name).join(', ')}.`);
  };
  let timer: NodeJS.Timeout | undefined;
  // Each folder by itself: what Node.js calls recursive loses files that an editor replaces (Linux).
  for (const folder of ['functions', 'shared'].flatMap(foldersIn)) {
    watch(folder, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void update().catch(reportFault), QUIET_MS);
    });
  }
  watch(join(projectRoot, 'infra/stack'), () => writeNotice('infra/stack was saved: start again to serve it.'));
}

/** The bundle of each function, by its name. */
async function bundle(): Promise<Map<string, string>> {
  const silently = { write: false, logLevel: 'silent', absWorkingDir: projectRoot } as const;
  const results = await Promise.all(buildsOfFunctions().map((options) => build({ ...options, ...silently })));
  return new Map(
    results.flatMap(({ outputFiles }) => outputFiles).map(({ path, text }) => [basename(dirname(path)), text]),
  );
}

/** The folder of a project, and all folders in it. */
function foldersIn(name: string): string[] {
  const folder = join(projectRoot, name);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  const inner = entries.map((entry) => join(entry.parentPath, entry.name));
  return [folder, ...inner.filter((each) => !each.includes('node_modules', folder.length))];
}

/** esbuild names the fault, with its file, in the second line of its message. */
function reportFault(error: unknown): void {
  const [first = '', second = first] = messageOf(error).split('\n');
  writeNotice(`What runs stays as it was: ${second}`);
}
