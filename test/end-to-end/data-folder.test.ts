import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { sampleStock } from '../../infra/local/sample-data/shelves.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostProcess, type Ready } from '../support/host-process.ts';
import { documentsAt } from '../support/local-host.ts';

// A start takes some two seconds, and many more on a machine that is busy.
jest.setTimeout(60_000);

/** The outputs of a host's stack, the names of its tables among them. */
async function outputsOf({ baseUrl }: Ready): Promise<Record<string, string>> {
  const response = await fetch(new URL('/outputs.json', baseUrl));
  return v.parse(v.record(v.string(), v.string()), await response.json());
}

/** Every file in a folder and below, as text. */
function filesIn(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [path.relative(folder, file), readFileSync(file, 'latin1')];
    }),
  );
}

describe('A data folder', () => {
  let parent: string;
  let folder: string;
  let temporaryFolder: string;
  let host: HostProcess;
  let ready: Ready;
  let api: ApiClient;

  beforeAll(() => {
    parent = mkdtempSync(path.join(tmpdir(), 'end-to-end-'));
    folder = path.join(parent, 'data');
    temporaryFolder = path.join(parent, 'tmp');
    mkdirSync(temporaryFolder);
  });

  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  afterEach(() => host.stop('SIGKILL'));

  async function start(...options: string[]): Promise<void> {
    host = new HostProcess(['--json', '--port', '0', '--data', folder, ...options], temporaryFolder);
    ready = await host.ready();
    api = ApiClient.withKey(ready.baseUrl, ready.keys.business);
  }

  async function keyRecord(token: string): Promise<KeyRecord> {
    const documents = documentsAt(new URL(ready.baseUrl).origin);
    const { KeysTableName: TableName } = await outputsOf(ready);
    const { Item } = await documents.send(new GetCommand({ TableName, Key: { keyHash: hashApiKey(token) } }));
    documents.destroy();
    return parseKeyRecord(Item);
  }

  async function deletePet(petId: number): Promise<void> {
    const documents = documentsAt(new URL(ready.baseUrl).origin);
    const { StockTableName: TableName } = await outputsOf(ready);
    await documents.send(new DeleteCommand({ TableName, Key: { storeId: STORE_ID, petId } }));
    documents.destroy();
  }

  test('that is new stays empty with --no-sample-data', async () => {
    await start('--no-sample-data');

    expect(await api.list()).toMatchObject({ status: 200, text: '[]' });
    expect(await api.setQuantity(101, 5)).toMatchObject({ status: 404 });
    expect(await host.stop()).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^(?:Synthesising .*\n)?$/) });
  });

  test('of the version before is refused in one line', async () => {
    const old = path.join(parent, 'old');
    mkdirSync(path.join(old, 'dynamodb'), { recursive: true });
    host = new HostProcess(['--port', '0', '--data', old], temporaryFolder);

    expect(await host.ended()).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: `npm start: The data folder ${old} was written by another version of the service. Delete it, or choose another with --data.\n`,
    });
  });

  test('that is empty gets the sample data; another host cannot use it meanwhile; no key is in it', async () => {
    await start();
    const before: unknown = JSON.parse((await api.list()).text);
    await api.setQuantity(101, 77);
    await deletePet(102);
    for (let count = 0; count < 3; count++) await ApiClient.withKey(ready.baseUrl, ready.keys.free).list();
    const second = await new HostProcess(['--port', '0', '--data', folder], temporaryFolder).ended();
    await ApiClient.withKey(ready.baseUrl, `${ready.keys.pro}x`).list();
    await ApiClient.withKey(ready.baseUrl, 'Console.Made-Key_0123456789').list();

    expect(before).toHaveLength(sampleStock.length);
    expect(second).toMatchObject({ exitCode: 1, stdout: '' });
    expect(second.stderr).toMatch(
      /^npm start: The data folder .* cannot be used: another host is running on it[^\n]+\n$/,
    );
    expect((await keyRecord(ready.keys.free)).dayUsed).toBe(3);
    // A host that is killed has no time to tidy up.
    expect(await host.stop('SIGKILL')).toMatchObject({ stdout: `${JSON.stringify(ready)}\n`, stderr: '' });
    for (const [file, text] of filesIn(folder)) {
      for (const key of [ready.keys.free, ready.keys.business, ready.keys.pro, 'Console.Made-Key_0123456789']) {
        expect({ file, keyAt: text.indexOf(key) }).toEqual({ file, keyAt: -1 });
      }
    }
  });

  test('that was in use by a host which was killed still has all data, and gets no sample data on top', async () => {
    await start();
    const { text } = await api.list();
    await ApiClient.withKey(ready.baseUrl, ready.keys.free).list();

    expect(text).toContain('{"petId":101,"quantity":77,"status":"available"}');
    expect(text).not.toContain('"petId":102,');
    expect(JSON.parse(text)).toHaveLength(sampleStock.length - 1);
    expect((await keyRecord(ready.keys.free)).dayUsed).toBe(4);
    expect(await host.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
