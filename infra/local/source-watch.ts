import { type FSWatcher, readdirSync, readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BuildContext, context } from 'esbuild';
import { buildsOfFunctions } from '../stack/bundle.ts';
import type { Host } from './host.ts';

const projectRoot = join(import.meta.dirname, '../..');
/** What the template is made from, beside the functions. */
const TEMPLATE = join('infra', 'stack');
/** An editor saves in several steps. */
const QUIET_MS = 50;

/** `--watch`: lets a host run what is saved. What cannot be built is reported in one line, and the code before it stays. */
export class SourceWatch {
  readonly #host: Host;
  readonly #builds: readonly BuildContext[];
  readonly #watchers = new Map<string, FSWatcher>();
  /** The bundles that the functions run, by name. */
  #bundles = new Map<string, string>();
  #isTemplateOld = false;
  #timer: NodeJS.Timeout | undefined;
  #underWay = Promise.resolve();

  private constructor(host: Host, builds: readonly BuildContext[]) {
    this.#host = host;
    this.#builds = builds;
    this.#watchFolders();
  }

  static async start(host: Host): Promise<SourceWatch> {
    const silently = { write: false, logLevel: 'silent', absWorkingDir: projectRoot } as const;
    const builds = buildsOfFunctions().map((build) => context({ ...build, ...silently }));
    const sources = new SourceWatch(host, await Promise.all(builds));
    sources.#bundles = await sources.#bundle();
    return sources;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#underWay;
    await Promise.all(this.#builds.map((build) => build.dispose()));
  }

  /** Each folder by itself: what Node.js calls recursive loses files that an editor replaces (Linux). */
  #watchFolders(): void {
    for (const folder of ['functions', 'shared', TEMPLATE].flatMap(foldersIn)) {
      if (this.#watchers.has(folder)) continue;
      const watcher = watch(folder, () => this.#onSave(folder));
      this.#watchers.set(folder, watcher);
    }
  }

  #onSave(folder: string): void {
    this.#isTemplateOld ||= folder.startsWith(join(projectRoot, TEMPLATE));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#underWay = this.#underWay.then(() => this.#update()).catch(reportFault);
    }, QUIET_MS);
  }

  async #update(): Promise<void> {
    this.#watchFolders();
    const startedAt = performance.now();
    const bundles = await this.#bundle();
    if (this.#isTemplateOld) {
      this.#isTemplateOld = false;
      await this.#host.synthesizeAgain();
      report('Synthesised again', startedAt);
    }
    const replaced = this.#replace(bundles);
    this.#bundles = bundles;
    if (replaced.length > 0) report(`Replaced ${replaced.join(', ')}`, startedAt);
  }

  async #bundle(): Promise<Map<string, string>> {
    const results = await Promise.all(this.#builds.map((build) => build.rebuild()));
    const files = results.flatMap(({ outputFiles = [] }) => outputFiles);
    return new Map(files.map(({ path, text }) => [basename(dirname(path)), text]));
  }

  /** Replaces the code of the functions whose bundle is another now, which its content names. @returns their names */
  #replace(bundles: ReadonlyMap<string, string>): string[] {
    return this.#host.functions().flatMap((lambda) => {
      const file = join(lambda.codeFolder, 'function.cjs');
      const running = readFileSync(file, 'utf8');
      const [name] = [...this.#bundles].find(([, text]) => text === running) ?? [];
      const next = name === undefined ? undefined : bundles.get(name);
      if (name === undefined || next === undefined || next === running) return [];
      // An environment that starts meanwhile reads the one or the other.
      writeFileSync(`${file}.new`, next);
      renameSync(`${file}.new`, file);
      lambda.renew();
      return [name];
    });
  }
}

/** The folder of a project, and all folders in it. */
function foldersIn(name: string): string[] {
  const folder = join(projectRoot, name);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  const inner = entries.map((entry) => join(entry.parentPath, entry.name));
  return [folder, ...inner.filter((each) => !each.includes('node_modules', folder.length))];
}

/** Never on standard output: with --json it has one line, and nothing else. */
function report(what: string, startedAt: number): void {
  process.stderr.write(`${what} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s).\n`);
}

/** esbuild names the fault, with its file, in the second line of its message. */
function reportFault(error: unknown): void {
  const [first = '', second = first] = (error instanceof Error ? error.message : String(error)).split('\n');
  process.stderr.write(`What runs stays as it was: ${second}\n`);
}
