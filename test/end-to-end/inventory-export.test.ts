import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AdminCommand, interruptedAdmin } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { FaultyLink } from '../support/faulty-link.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SMALLEST = -9_223_372_036_854_775_808n;
const LARGEST = 9_223_372_036_854_775_807n;

const outer = temporaryFolder();
let folders = 0;
let folder: string;
let link: FaultyLink;
let host: LocalHost;
let admin: AdminCommand;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
  admin = new AdminCommand(host.origin);
});

afterAll(() => host.close());

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  folder = join(outer, String((folders += 1)));
  mkdirSync(folder);
});

afterEach(() => link.close());

async function listText(): Promise<string> {
  return (await ApiClient.withKey(host.baseUrl, host.host.keys.enterprise).list()).text;
}

const expectAsItWas = (): void => {
  expect(readdirSync(folder)).toEqual(['stock.csv']);
  expect(readFileSync(join(folder, 'stock.csv'), 'utf8')).toBe('as it was');
};

const contents = {
  csv: `petId,quantity,status\n${SMALLEST},0,available\n9007199254740993,3,pending\n${LARGEST},2147483647,sold\n`,
  jsonl:
    `{"petId":${SMALLEST},"quantity":0,"status":"available"}\n` +
    '{"petId":9007199254740993,"quantity":3,"status":"pending"}\n' +
    `{"petId":${LARGEST},"quantity":2147483647,"status":"sold"}\n`,
} as const;

describe('npm run admin -- inventory export of an empty store', () => {
  test.each([
    ['csv', 'petId,quantity,status\n'],
    ['jsonl', ''],
  ])('writes a %s file without entries where there are none', async (ending, content) => {
    const file = join(folder, `none.${ending}`);

    expect(await admin.json('inventory', 'export', file)).toEqual({ exported: 0, file });
    expect(readFileSync(file, 'utf8')).toBe(content);
  });
});

describe('npm run admin -- inventory export', () => {
  beforeAll(() =>
    host.putStock(
      { petId: LARGEST, quantity: 2_147_483_647, status: 'sold' },
      { petId: SMALLEST, quantity: 0, status: 'available' },
      { petId: 9_007_199_254_740_993n, quantity: 3, status: 'pending' },
    ),
  );

  test.each(['csv', 'jsonl'] as const)('writes %s that the import reads back digit for digit', async (ending) => {
    const file = join(folder, `stock.${ending}`);
    writeFileSync(file, 'what was there before');
    const before = await listText();

    expect(await admin.output('inventory', 'export', file)).toBe(
      `Exported 3 stock entries from ${host.origin} to ${file}.\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(contents[ending]);
    expect(readdirSync(folder)).toEqual([`stock.${ending}`]);

    await Promise.all([SMALLEST, 9_007_199_254_740_993n].map((petId) => host.deleteStock(petId)));
    await admin.output('inventory', 'import', file);
    expect(await listText()).toBe(before);
  });

  describe('where it is cut off leaves the file as it was, and no part of a new one', () => {
    beforeEach(() => {
      writeFileSync(join(folder, 'stock.csv'), 'as it was');
    });

    test('by the network', async () => {
      link.faults = ({ action }) => (action === 'Query' ? { kind: 'gone' } : undefined);
      const file = join(folder, 'stock.csv');

      expect(await new AdminCommand(link.origin).failure('inventory', 'export', file)).toMatch(
        /^The export stopped after 0 entries: [^.]+\. .+stock\.csv is as it was; run the same command again\.$/,
      );
      expectAsItWas();
    });

    test('by an answer that is none', async () => {
      const portal = { kind: 'answer', status: 200, body: '<html>\n<body>Log in first' } as const;
      link.faults = ({ action }) => (action === 'Query' ? portal : undefined);

      expect(
        await new AdminCommand(link.origin).failure('inventory', 'export', join(folder, 'stock.csv')),
      ).not.toContain('$response');
      expectAsItWas();
    });

    test('by Ctrl-C', async () => {
      // The rest of the table never comes.
      link.faults = ({ action }) => (action === 'Query' ? { kind: 'silence' } : undefined);
      const file = join(folder, 'stock.csv');
      const words = ['inventory', 'export', file, '--url', link.origin];

      expect(await interruptedAdmin(words, () => existsSync(`${file}.part`))).toMatchObject({
        exitCode: 130,
        stdout: '',
      });
      expectAsItWas();
    });
  });

  test.each([
    [
      'into a folder that is not there',
      'nowhere/stock.csv',
      /^The export stopped after 0 entries: ENOENT.*is as it was/,
    ],
    ['in place of a folder', 'folder.csv', /^The export stopped after \d entries: EISDIR.*is as it was/],
    ['of another format', 'stock.xlsx', /^Cannot export to .*stock\.xlsx: its name must end in \.csv or \.jsonl\.$/],
  ])('%s says why not in one line', async (_, name, message) => {
    mkdirSync(join(folder, 'folder.csv'));

    expect(await admin.failure('inventory', 'export', join(folder, name))).toMatch(message);
    expect(readdirSync(folder)).toEqual(['folder.csv']);
  });

  test('writes every entry of several pages', async () => {
    const rows = Array.from({ length: 30_000 }, (_, index) => `${index + 1},1,available\n`).join('');
    const file = join(folder, 'many.csv');
    writeFileSync(file, `petId,quantity,status\n${rows}`);
    await admin.output('inventory', 'import', file);
    const copy = join(folder, 'copy.csv');

    expect(await new AdminCommand(link.origin).json('inventory', 'export', copy)).toEqual({
      exported: 30_003,
      file: copy,
    });
    expect(link.calls.filter(({ action }) => action === 'Query').length).toBeGreaterThan(1);
    const others = /^(?:-|9007199254740993|9223372036854775807).*\n/gm;
    expect(readFileSync(copy, 'utf8').replaceAll(others, '') === readFileSync(file, 'utf8')).toBe(true);
  });
});
