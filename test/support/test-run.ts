import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '../..');
const caches = join(root, 'node_modules/.cache');

/** What a run gets of the caller's environment: where programs are, and what the suites are asked to do. */
const FROM_CALLER = new Set(['PATH', 'LD_LIBRARY_PATH', 'FAST_TESTS', 'TAKE_PICTURES']);

/** The CDK's library keeps fingerprints of assets in the home, whatever CDK_HOME is. */
const OF_CDK = /^\.cdk(?:\/cache(?:\/fingerprints(?:\/.*)?)?)?$/;

/** After it, programs that do not end are killed. */
const GRACE_MS = 2_000;

/**
 * A run of checks and suites. Its programs know nothing of the machine: they have an environment, a home and a
 * temporary directory of its own. They end with it, and so do the directories.
 */
export class TestRun {
  readonly #env: NodeJS.ProcessEnv;
  readonly #directory = mkdtempSync(join(placeForPrograms(), 'pet-store-tests-'));
  readonly #home = join(this.#directory, 'home');
  /** Names that a program has looked up, one a line. */
  readonly #lookups = join(this.#directory, 'lookups');
  /** Each is the leader of a process group. */
  readonly #children: ChildProcess[] = [];

  constructor(changes: Readonly<Record<string, string>> = {}) {
    // Files that tests create have the usual modes.
    process.umask(0o022);
    for (const name of ['home', 'tmp', 'cdk']) mkdirSync(join(this.#directory, name));
    const given = Object.entries(process.env).filter(([name]) => FROM_CALLER.has(name));
    this.#env = { ...Object.fromEntries(given), ...environmentIn(this.#directory), ...changes };
    process.once('exit', () => this.#remove());
  }

  /** Starts a program in the project's root, with this run's environment, in a process group of its own. */
  start(program: string, args: readonly string[], stdio: SpawnOptions['stdio']): ChildProcess {
    const child = spawn(program, args, { cwd: root, env: this.#env, stdio, detached: true });
    this.#children.push(child);
    return child;
  }

  /** Ends all programs, and all that they have started. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM');
    const running = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    await Promise.race([Promise.all(running.map((child) => once(child, 'exit'))), sleep(GRACE_MS)]);
    this.#signal('SIGKILL');
  }

  /** @returns what the programs left in the home of the user, and names that they looked up on the network */
  problems(): string[] {
    const left = readdirSync(this.#home, { recursive: true })
      .map(String)
      .filter((file) => !OF_CDK.test(file));
    const names = existsSync(this.#lookups) ? new Set(readFileSync(this.#lookups, 'utf8').trim().split('\n')) : [];
    return [
      ...left.slice(0, 5).map((file) => `A test or check left ${file} in the home directory`),
      ...[...names].map((name) => `A test or check looked up ${name}: only localhost is allowed`),
    ];
  }

  #remove(): void {
    this.#signal('SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #signal(signal: NodeJS.Signals): void {
    for (const { pid } of this.#children) {
      try {
        if (pid !== undefined) process.kill(-pid, signal);
      } catch {
        // No process of the group is left.
      }
    }
  }
}

/** Settings that lead away from the machine, instead of those of the caller. */
function environmentIn(directory: string): Record<string, string> {
  return {
    TEST_RUN: directory,
    HOME: join(directory, 'home'),
    XDG_CACHE_HOME: join(directory, 'cache'),
    TMPDIR: join(directory, 'tmp'),
    LANG: 'C.UTF-8',
    NODE_OPTIONS: `--require "${join(import.meta.dirname, 'only-localhost.cjs')}"`,
    // Hundreds of processes load the same modules. Node.js keeps what it has compiled here.
    NODE_COMPILE_CACHE: join(caches, 'node-compile'),
    SWC_NATIVE_BINDING_CACHE: join(caches, 'swc-native'),
    npm_config_cache: join(directory, 'npm'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    // The CDK CLI otherwise uses the home of the password file, whatever HOME is.
    CDK_HOME: join(directory, 'cdk'),
    AWS_EC2_METADATA_DISABLED: 'true',
    GIT_CONFIG_NOSYSTEM: '1',
    DDB_LOCAL_TELEMETRY: '0',
  };
}

/** A directory for temporary files in which programs can run: some machines forbid it below /tmp. */
function placeForPrograms(): string {
  const place = [tmpdir(), '/var/tmp'].find((directory) => existsSync(directory) && canRunIn(directory));
  if (place !== undefined) return place;
  throw new Error(`Programs cannot run in ${tmpdir()} (mounted noexec?). Set TMPDIR to a directory that allows them.`);
}

function canRunIn(parent: string): boolean {
  const directory = mkdtempSync(join(parent, 'pet-store-tests-'));
  const program = join(directory, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(directory, { recursive: true });
  return status === 0;
}
