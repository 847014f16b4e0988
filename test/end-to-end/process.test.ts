import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { planIds } from '../../shared/keys/plans.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostProcess, type Ready } from '../support/host-process.ts';

// A start takes some two seconds, and many more on a machine that is busy.
jest.setTimeout(60_000);

const ONE_LINE = /^npm start: [^\n]+\n$/;

/** Nothing but what the first start after a change says. */
const NO_ERROR = /^(?:Synthesising the service\. [^\n]+\n)?$/;

let folder: string;
let temporaryFolder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'end-to-end-'));
  temporaryFolder = path.join(folder, 'tmp');
  mkdirSync(temporaryFolder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('npm start -- --json --port 0 --data memory', () => {
  let host: HostProcess;
  let ready: Ready;

  beforeAll(async () => {
    host = new HostProcess(['--json', '--port', '0', '--data', 'memory'], temporaryFolder);
    ready = await host.ready();
  });

  afterAll(() => host.stop('SIGKILL'));

  test('prints one line with the base URL and a key per plan, and nothing else', () => {
    expect(host.stdout).toBe(`${JSON.stringify(ready)}\n`);
    expect(ready.baseUrl).toMatch(/^http:\/\/localhost:[1-9]\d+\/v1$/);
    expect(host.stderr).toMatch(NO_ERROR);
  });

  test.each(planIds)('the key of plan %s works', async (plan) => {
    expect(await ApiClient.withKey(ready.baseUrl, ready.keys[plan]).list()).toMatchObject({ status: 200 });
  });

  test('a second host on its port says in one line that it is taken, and ends with 1', async () => {
    const { port } = new URL(ready.baseUrl);
    const second = await new HostProcess(['--port', port, '--data', 'memory'], temporaryFolder).ended();

    expect(second).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(ONE_LINE) });
    expect(second.stderr).toContain(`Port ${port} is taken`);
  });

  test('SIGTERM ends it with 0, open connections or not, and it leaves nothing behind', async () => {
    const { hostname, port } = new URL(ready.baseUrl);
    const idle = connect(Number(port), hostname);
    await once(idle, 'connect');
    await ApiClient.withKey(ready.baseUrl, ready.keys.free).list();
    const { exitCode, stderr } = await host.stop('SIGTERM');
    idle.destroy();

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(NO_ERROR) });
    expect(readdirSync(temporaryFolder)).toEqual([]);
  });
});

describe('npm start', () => {
  let host: HostProcess | undefined;

  afterEach(() => host?.stop('SIGKILL'));

  test('tells people the base URL and the keys; SIGINT ends it with 0', async () => {
    host = new HostProcess(['--port', '0', '--data', path.join(folder, 'for-people')], temporaryFolder);
    await host.prints('Ctrl-C');
    const { key = '', url = '' } = /Bearer (?<key>\S+)' (?<url>http\S+)\/inventory/.exec(host.stdout)?.groups ?? {};
    const answer = await ApiClient.withKey(url, key).list();

    expect(answer.status).toBe(200);
    expect(await host.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(NO_ERROR) });
  });

  test('--help describes the options and ends with 0', async () => {
    const { exitCode, stdout, stderr } = await new HostProcess(['--help'], temporaryFolder).ended();

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const option of ['--port', '--host', '--data', '--dynamodb', '--no-sample-data', '--assembly', '--json']) {
      expect(stdout).toContain(option);
    }
  });
});

describe('What cannot work is said in one line, and ends with 1:', () => {
  test.each<[string, (folder: string) => string[], RegExp]>([
    ['an unknown option', () => ['--prot', '3000'], /unknown option '--prot'/],
    ['an argument that is no option', () => ['3000'], /too many arguments/],
    ['a port that is no number', () => ['--port', 'http'], /'--port <number>'.*'http' is invalid/],
    ['a port beyond 65535', () => ['--port', '65536'], /'65536' is invalid/],
    ['an engine that is no URL', () => ['--dynamodb', 'localhost:8000'], /'localhost:8000' is invalid/],
    ['an engine that is not there', () => ['--dynamodb', 'http://127.0.0.1:1'], /127\.0\.0\.1:1 cannot be used/],
    ['an assembly that is not there', (inside) => ['--data', 'memory', '--assembly', inside], /assembly has no file/],
    ['a data folder that is a file', (inside) => ['--data', path.join(inside, 'file')], /file cannot be used/],
  ])('%s', async (_, args, message) => {
    writeFileSync(path.join(folder, 'file'), 'not a folder');
    const { exitCode, stdout, stderr } = await new HostProcess(
      ['--port', '0', ...args(folder)],
      temporaryFolder,
    ).ended();

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(message);
  });
});
