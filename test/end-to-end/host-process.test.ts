import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  DeleteApiKeyCommand,
  GetApiKeysCommand,
  GetUsageCommand,
  GetUsagePlansCommand,
} from '@aws-sdk/client-api-gateway';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { HostProcess, type Ready } from '../support/host-process.ts';
import { documentsAt } from '../support/local-host.ts';

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

/** The outputs of a host's stack, the names of its tables among them. */
async function outputsOf({ baseUrl }: Ready): Promise<Record<string, string>> {
  const response = await fetch(new URL('/outputs.json', baseUrl));
  return v.parse(v.record(v.string(), v.string()), await response.json());
}

/** Every file in a folder and below, as text. */
function filesIn(root: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [path.relative(root, file), readFileSync(file, 'latin1')];
    }),
  );
}

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
    ['a port that is no number', () => ['--port', 'http'], /'--port <number>'.*'http' is invalid/],
    ['an assembly that is not there', (inside) => ['--data', 'memory', '--assembly', inside], /assembly has no file/],
  ])('%s', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await new HostProcess(
      ['--port', '0', ...args(folder)],
      temporaryFolder,
    ).ended();

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(message);
  });
});

describe('A data folder', () => {
  let data: string;
  let host: HostProcess;
  let ready: Ready;
  let api: ApiClient;
  let gateway: APIGatewayClient;

  beforeAll(() => {
    data = path.join(folder, 'data');
  });

  afterEach(async () => {
    gateway.destroy();
    await host.stop('SIGKILL');
  });

  async function start(...options: string[]): Promise<void> {
    host = new HostProcess(['--json', '--port', '0', '--data', data, ...options], temporaryFolder);
    ready = await host.ready();
    api = ApiClient.withKey(ready.baseUrl, ready.keys.enterprise);
    gateway = gatewayAt(new URL(ready.baseUrl).origin);
  }

  /** How often API Gateway has counted a request of the Free demo key today. */
  async function usageOfFree(): Promise<number | undefined> {
    const { items = [] } = await gateway.send(new GetUsagePlansCommand({ keyId: 'demo-free' }));
    const today = new Date().toISOString().slice(0, 10);
    const days = { startDate: today, endDate: today, keyId: 'demo-free' };
    const usage = await gateway.send(new GetUsageCommand({ usagePlanId: items[0]?.id, ...days }));
    return usage.items?.['demo-free']?.[0]?.[0];
  }

  async function keyNames(): Promise<(string | undefined)[]> {
    const { items = [] } = await gateway.send(new GetApiKeysCommand({ limit: 500 }));
    return items.map(({ name }) => name);
  }

  async function keyRecord(token: string): Promise<KeyRecord> {
    const documents = documentsAt(new URL(ready.baseUrl).origin);
    const { KeysTableName: TableName } = await outputsOf(ready);
    const { Item } = await documents.send(new GetCommand({ TableName, Key: { keyHash: hashApiKey(token) } }));
    documents.destroy();
    return parseKeyRecord(Item);
  }

  test('that is new stays empty with --no-sample-data', async () => {
    await start('--no-sample-data');

    expect(await api.list()).toMatchObject({ status: 200, text: '[]' });
    expect(await api.setQuantity(101, 5)).toMatchObject({ status: 404 });
    expect(await host.stop()).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^(?:Synthesising .*\n)?$/) });
  });

  test('that is empty gets the sample data; another host cannot use it meanwhile; no key is in it', async () => {
    await start();
    const before: unknown = JSON.parse((await api.list()).text);
    await api.setQuantity(101, 77);
    for (let count = 0; count < 3; count++) await ApiClient.withKey(ready.baseUrl, ready.keys.free).list();
    const second = await new HostProcess(['--port', '0', '--data', data], temporaryFolder).ended();
    await ApiClient.withKey(ready.baseUrl, `${ready.keys.pro}x`).list();
    await ApiClient.withKey(ready.baseUrl, 'Console.Made-Key_0123456789').list();

    await gateway.send(new CreateApiKeyCommand({ name: 'acme' }));
    await gateway.send(new DeleteApiKeyCommand({ apiKey: 'demo-business' }));

    expect(before).toHaveLength(sampleStock.length);
    expect(second).toMatchObject({ exitCode: 1, stdout: '' });
    expect(second.stderr).toMatch(
      /^npm start: The data folder .* cannot be used: another host is running on it[^\n]+\n$/,
    );
    expect((await keyRecord(ready.keys.free)).dayUsed).toBe(3);
    // A host that is killed has no time to tidy up.
    expect(await host.stop('SIGKILL')).toMatchObject({ stdout: `${JSON.stringify(ready)}\n`, stderr: '' });
    for (const [file, text] of filesIn(data)) {
      for (const key of [ready.keys.free, ready.keys.enterprise, ready.keys.pro, 'Console.Made-Key_0123456789']) {
        expect({ file, keyAt: text.indexOf(key) }).toEqual({ file, keyAt: -1 });
      }
    }
  });

  test('that was in use by a host which was killed still has all data, and gets no sample data on top', async () => {
    await start();
    const { text } = await api.list();
    await ApiClient.withKey(ready.baseUrl, ready.keys.free).list();

    expect(text).toContain('{"petId":101,"quantity":77,"status":"available"}');
    expect(JSON.parse(text)).toHaveLength(sampleStock.length);
    expect((await keyRecord(ready.keys.free)).dayUsed).toBe(4);
    expect(await keyNames()).toContain('acme');
    expect(await keyNames()).not.toContain('Demo Business');
    const used = await usageOfFree();
    expect(await host.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: '' });
    // A host that is told to stop loses no usage; one that is killed may lose that of a second.
    await start();
    expect(await usageOfFree()).toBe(used);
    expect(used).toBeGreaterThan(0);
  });
});
