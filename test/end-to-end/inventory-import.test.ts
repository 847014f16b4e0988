import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LocalHost } from '../support/local-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'import-'));
let host: LocalHost;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
});

afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true });
});

interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function admin(...words: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, ['infra/admin/main.ts', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { exitCode, stdout, stderr };
}

function importFile(name: string, content: string, ...options: string[]): Promise<Outcome> {
  const file = join(folder, name);
  writeFileSync(file, content);
  return admin('inventory', 'import', file, '--url', host.origin, ...options);
}

async function listText(): Promise<string> {
  const headers = { Authorization: `Bearer ${host.host.keys.enterprise}` };
  return (await fetch(`${host.baseUrl}/inventory`, { headers })).text();
}

describe('npm run admin -- inventory import', () => {
  test('writes nothing unless every row is good, and names each fault with its line', async () => {
    const rows = 'petId,quantity,status\n1,1,sold\nx,1,sold\n1,2,sold\n2,-1,sold\n';
    const { exitCode, stdout, stderr } = await importFile('bad.csv', rows);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining('bad.csv:3: petId must be an int64'),
      expect.stringContaining('bad.csv:4: petId 1 is on line 2 too'),
      expect.stringContaining('bad.csv:5: quantity must be an integer'),
      '3 rows are wrong. Nothing was written.',
      '',
    ]);
    expect(await listText()).toBe('[]');
  });

  test('loads every row, an int64 digit for digit, and can run again', async () => {
    const large = '9223372036854775807';
    const rows = Array.from({ length: 1_200 }, (_, index) => `${index + 1},${index % 50},available`);
    const file = ['petId,quantity,status', ...rows, `${large},3,pending`].join('\n');
    for (const _ of ['first', 'again']) {
      const { exitCode, stdout } = await importFile('good.csv', file);
      expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Imported 1,201 /) });
    }
    const list = await listText();
    expect(list.match(/"petId"/g)).toHaveLength(1_201);
    expect(list.endsWith(`,{"petId":${large},"quantity":3,"status":"pending"}]`)).toBe(true);
  });

  test('replaces the entries that the file names and leaves the others', async () => {
    await importFile('one.jsonl', '{"petId":7,"quantity":77,"status":"sold"}\n');
    const list = await listText();
    expect(list).toContain('{"petId":7,"quantity":77,"status":"sold"}');
    expect(list).toContain('{"petId":8,"quantity":7,"status":"available"}');
  });

  test('refuses a file without rows', async () => {
    const { exitCode, stderr } = await importFile('empty.csv', 'petId,quantity,status\n');
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('has no rows') });
  });

  test.each([
    [
      'no host at the address',
      ['inventory', 'import', 'FILE', '--url', 'http://127.0.0.1:9'],
      'No local host answers at',
    ],
    ['an address that is none', ['inventory', 'import', 'FILE', '--url', 'here'], 'is no address'],
    ['no file', ['inventory', 'import'], "missing required argument 'file'"],
    ['an unknown command', ['inventory', 'imprt'], "unknown command 'imprt'"],
    ['an unknown option', ['inventory', 'import', 'FILE', '--uri', 'x'], "unknown option '--uri'"],
  ])('with %s says what to do in one line', async (_, words, message) => {
    const file = join(folder, 'fine.csv');
    writeFileSync(file, 'petId,quantity,status\n1,1,sold\n');
    const { exitCode, stdout, stderr } = await admin(...words.map((word) => (word === 'FILE' ? file : word)));
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('with no AWS credentials for --table says so in one line', async () => {
    const file = join(folder, 'fine.csv');
    writeFileSync(file, 'petId,quantity,status\n1,1,sold\n');
    const { exitCode, stderr } = await admin('inventory', 'import', file, '--table', 'stock');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('Cannot use the table stock');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }, 60_000);
});
