import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { CreateApiKeyCommand, DeleteApiKeyCommand, GetApiKeysCommand } from '@aws-sdk/client-api-gateway';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { ApiClient } from '../support/api-client.ts';
import { run } from '../support/admin-command.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { machineSettings } from '../support/machine-settings.ts';
import { secretOf } from '../support/secrets.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/** No output on standard error, except the notice of the first start after a change. */
const NO_ERROR = /^(?:Synthesizing the service\. [^\n]+\n)?$/;

const MADE_IN_CONSOLE = 'Console.Made-Key_0123456789';

const directory = temporaryDirectory();
const data = path.join(directory, 'data');
const newDirectory = (): string => mkdtempSync(path.join(directory, 'scratch-'));

const root = path.join(import.meta.dirname, '../..');

const readySchema = v.strictObject({
  baseUrl: v.string(),
  keys: v.strictObject(v.entriesFromList(planIds, v.string())),
});

/** `npm start` in a process of its own, without npm. */
class HostProcess {
  stdout = '';
  stderr = '';
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #exited: Promise<unknown>;

  /** @param scratch where it keeps what it removes when it stops, but not when it is killed */
  constructor(args: readonly string[], scratch: string, project = root) {
    // As in npm start, and under `node --watch` in npm run dev.
    const cache = 'node_modules/.cache/pet-store-server';
    this.#process = spawn(process.execPath, ['infra/local/main.ts', '--port', '0', ...args], {
      cwd: project,
      env: {
        ...process.env,
        ...machineSettings,
        NODE_COMPILE_CACHE: cache,
        WATCH_REPORT_DEPENDENCIES: '1',
        TMPDIR: scratch,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#process.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#exited = once(this.#process, 'close');
  }

  /** Waits for the one line that `--json` prints. */
  async ready(): Promise<v.InferOutput<typeof readySchema>> {
    await this.prints('\n');
    return v.parse(readySchema, JSON.parse(this.stdout));
  }

  /** Waits until standard output has the text. */
  async prints(text: string): Promise<void> {
    await until(`the server prints ${JSON.stringify(text)}`, () => this.stdout.includes(text) || this.#hasEnded);
    if (!this.stdout.includes(text)) throw new Error(`The server has ended: ${this.stderr}`);
  }

  async ended() {
    await this.#exited;
    return { exitCode: this.#process.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** Sends the signal and waits for the end. Harmless where the process has ended. */
  async stop(signal: NodeJS.Signals) {
    if (!this.#hasEnded) this.#process.kill(signal);
    return this.ended();
  }

  get #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}

/** Each start uses the data directory that the one before has left. */
describe('npm start', () => {
  let host: HostProcess;

  afterEach(() => host?.stop('SIGKILL'));

  /** Starts a server on the data directory. @returns the directory for what it removes when it stops */
  function start(...options: string[]): string {
    const scratch = newDirectory();
    host = new HostProcess(['--data', data, ...options], scratch);
    return scratch;
  }

  test('serves an empty store with --no-sample-data, and exits with 0 on SIGINT during requests', async () => {
    start('--no-sample-data');
    await host.prints('Ctrl-C');
    const { key = '', url = '' } = /Bearer (?<key>\S+)' (?<url>http\S+)\/inventory/.exec(host.stdout)?.groups ?? {};
    const api = ApiClient.withKey(url, key);

    expect(await api.list()).toMatchObject({ status: 200, text: '[]' });
    expect(await api.setQuantity(101, 5)).toMatchObject({ status: 404 });
    await host.prints('PATCH /v1/inventory/101 404 ');
    const requests = Array.from({ length: 40 }, () => api.list().catch(() => undefined));
    await Promise.any(requests);
    expect(await host.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(NO_ERROR) });
    await Promise.all(requests);
  });

  test('prints one line with --json, locks its data, and stores no key in plaintext', async () => {
    start('--json');
    const ready = await host.ready();
    const { baseUrl, keys } = ready;
    const set = ['infra/admin/main.ts', 'inventory', 'set', '101', '77', '--url', baseUrl];
    expect(await run(process.execPath, set, machineSettings)).toMatchObject({ exitCode: 0, stderr: '' });
    for (const key of [keys.free, keys.free, keys.enterprise, `${keys.pro}x`, MADE_IN_CONSOLE])
      await ApiClient.withKey(baseUrl, key).list();
    const gateway = gatewayAt(new URL(baseUrl).origin);
    await gateway.send(new CreateApiKeyCommand({ name: 'acme' }));
    await gateway.send(new DeleteApiKeyCommand({ apiKey: 'demo-business' }));
    gateway.destroy();
    const second = await new HostProcess(['--data', data], directory).ended();

    expect(baseUrl).toMatch(/^http:\/\/localhost:[1-9]\d+\/v1$/);
    const locked = /^npm start: The data directory .* cannot be used: [^\n]+ Another local server uses it[^\n]+\n$/;
    expect(second).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(locked) });
    // A server that is killed has no time to tidy up.
    expect(await host.stop('SIGKILL')).toMatchObject({ stdout: `${JSON.stringify(ready)}\n`, stderr: '' });
    const secrets = [...[keys.free, keys.enterprise, keys.pro].map(secretOf), MADE_IN_CONSOLE];
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const leaks = files.filter(({ parentPath, name }) => {
      const text = readFileSync(path.join(parentPath, name), 'latin1');
      return secrets.some((secret) => text.includes(secret));
    });
    expect(leaks).toEqual([]);
  });

  test('has all data of a killed server, and SIGTERM ends it with 0 despite an open connection', async () => {
    const scratch = start('--json');
    const { baseUrl, keys } = await host.ready();
    const { origin, hostname, port } = new URL(baseUrl);
    const { text } = await ApiClient.withKey(baseUrl, keys.enterprise).list();
    const gateway = gatewayAt(origin);
    const { items = [] } = await gateway.send(new GetApiKeysCommand({ limit: 500 }));
    gateway.destroy();
    const idle = connect(Number(port), hostname);
    await once(idle, 'connect');
    const { exitCode, stderr } = await host.stop('SIGTERM');
    idle.destroy();
    const names = items.map(({ name }) => name);

    expect(text).toContain('{"petId":101,"quantity":77,"status":"available"}');
    expect(JSON.parse(text)).toHaveLength(sampleStock.length);
    expect(names).toContain('acme');
    expect(names).not.toContain('Demo Business');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('fails with one line that says what to do if its store is damaged', async () => {
    const store = path.join(data, 'dynamodb');
    for (const name of readdirSync(store).filter((each) => each.endsWith('.ldb'))) {
      const table = readFileSync(path.join(store, name));
      writeFileSync(path.join(store, name), table.fill(0xff, 0, Math.min(2_000, table.length)));
    }
    start();
    const { exitCode, stderr } = await host.ended();

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^npm start: The data directory .* cannot be used: .+ restore or delete damaged files, [^\n]+\n$/,
    );
  });
});

describe('npm start in a project without a cached template', () => {
  const options = ['--data', 'memory', '--json'];
  const project = newDirectory();
  const cache = path.join(project, 'node_modules/.cache');

  // A copy, whose sources a test may change, and which cannot be cached at first, as in a read-only checkout.
  beforeAll(() => {
    const sources = ['functions', 'infra', 'shared'];
    const settings = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];
    for (const name of [...sources, ...settings])
      cpSync(path.join(root, name), path.join(project, name), { recursive: true });
    mkdirSync(path.join(project, 'node_modules'));
    for (const name of readdirSync(path.join(root, 'node_modules')).filter((each) => each !== '.cache'))
      symlinkSync(path.join(root, 'node_modules', name), path.join(project, 'node_modules', name));
    writeFileSync(cache, '');
  });

  test('exits quietly with 130 on Ctrl-C during its start, and leaves no temporary files', async () => {
    const scratch = newDirectory();
    const host = new HostProcess(options, scratch, project);
    const bundles = (): boolean =>
      readdirSync(scratch, { recursive: true }).some((name) => String(name).endsWith('index.mjs'));
    await until('the functions are bundled', bundles);
    const stopped = await host.stop('SIGINT');
    await setTimeout(500);

    expect(stopped).toEqual({ exitCode: 130, stdout: '', stderr: expect.stringMatching(NO_ERROR) });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('applies a save with --watch: to functions immediately, to the template after a restart', async () => {
    const scratch = newDirectory();
    const host = new HostProcess([...options, '--watch'], scratch, project);
    const edit = (file: string, from: string, to: string): void => {
      const text = readFileSync(path.join(project, file), 'utf8');
      expect(text).toContain(from);
      writeFileSync(path.join(project, file), text.replace(from, to));
    };
    try {
      const { baseUrl, keys } = await host.ready();
      const headers = { authorization: `Bearer ${keys.enterprise}` };
      const has = async (text: string): Promise<boolean> => {
        const response = await fetch(`${baseUrl}/inventory/999`, { headers }).catch(() => undefined);
        return (await response?.text())?.includes(text) ?? false;
      };
      expect(await has('There is no pet 999.')).toBe(true);
      expect(host.stderr).toContain('The synthesized template was not cached: ');
      rmSync(cache);
      edit('shared/stores/change-failures.ts', 'There is no pet', 'Nowhere is a pet');
      await until('the functions are reloaded', () => has('Nowhere is a pet 999.'));
      const [started, ...others] = readdirSync(scratch);
      expect(others).toEqual([]);
      edit('shared/contract/errors.ts', 'Send your API key in', 'Put your API key into');
      await until('the first server has ended', () => !readdirSync(scratch).includes(started ?? ''));
      await until('another one serves', () => has('Nowhere is a pet 999.'));
    } finally {
      expect(await host.stop('SIGHUP')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Reloaded') });
    }
    expect(readdirSync(scratch)).toEqual([]);
  });
});
