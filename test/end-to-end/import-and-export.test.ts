import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AdminCommand, failureLine, interruptedAdmin, Terminal, describeOnTerminal } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { MAX_INT64, MIN_INT64 } from '../support/int64.ts';
import { LocalHost } from '../support/local-host.ts';
import { anEntry } from '../support/tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const outer = temporaryFolder();
let folders = 0;
let folder: string;
let link: FaultyLink;
let host: LocalHost;
let admin: AdminCommand;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
  admin = new AdminCommand(host.origin);
  api = ApiClient.withKey(host.baseUrl, host.host.keys.enterprise);
});

afterAll(() => host.close());

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  folder = join(outer, String((folders += 1)));
  mkdirSync(folder);
});

afterEach(() => link.close());

function written(name: string, ...lines: string[]): string {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return file;
}

const textOf = async (path: string): Promise<string> => (await api.send('GET', path)).text;

const DATE = '"shipDate":"2026-12-01T10:00:00Z",';

const contents = {
  csv: `petId,quantity,status\n${MIN_INT64},0,available\n9007199254740993,3,pending\n${MAX_INT64},2147483647,sold\n`,
  jsonl:
    `{"petId":${MIN_INT64},"quantity":0,"status":"available"}\n` +
    '{"petId":9007199254740993,"quantity":3,"status":"pending"}\n' +
    `{"petId":${MAX_INT64},"quantity":2147483647,"status":"sold"}\n`,
} as const;

describe('npm run admin -- inventory export', () => {
  test.each(['csv', 'jsonl'] as const)('writes the very %s that the import has read', async (ending) => {
    const file = written(`stock.${ending}`, contents[ending].trimEnd());
    await admin.output('inventory', 'import', file);
    writeFileSync(file, 'what was there before');

    expect(await admin.output('inventory', 'export', file)).toBe(
      `Exported 3 stock entries from ${host.origin} to ${file}.\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(contents[ending]);
    expect(await admin.json('inventory', 'export', file)).toEqual({ exported: 3, file });
    expect(readdirSync(folder)).toEqual([`stock.${ending}`]);
  });

  test('where it is cut off by the network or by Ctrl-C leaves the file as it was, and no part of a new one', async () => {
    const file = written('stock.csv', 'as it was');
    link.faults = ({ action }) => (action === 'Query' ? { kind: 'gone' } : undefined);
    expect(await new AdminCommand(link.origin).failure('inventory', 'export', file)).toMatch(
      /^The export stopped after 0 stock entries: Nothing answers at .+stock\.csv is as it was; run the same command again\.$/,
    );
    await link.close();
    link = await FaultyLink.to(host.origin);
    // The rest of the table never comes.
    link.faults = ({ action }) => (action === 'Query' ? { kind: 'silence' } : undefined);
    const words = ['inventory', 'export', file, '--url', link.origin];
    const interrupted = await interruptedAdmin(words, () => existsSync(`${file}.part`));
    expect(interrupted).toMatchObject({ exitCode: 130, stdout: '' });

    expect(readdirSync(folder)).toEqual(['stock.csv']);
    expect(readFileSync(file, 'utf8')).toBe('as it was');
  });

  test.each([
    ['a folder that is not there', 'nowhere/stock.csv', /^Cannot write .*stock\.csv: ENOENT/],
    ['the place of a folder', 'folder.csv', /^The export stopped after 3 stock entries: EISDIR.*is as it was/],
    ['another format', 'stock.xlsx', /^Cannot export to .*stock\.xlsx: its name must end in \.csv or \.jsonl\.$/],
  ])('into %s says why not in one line', async (_, name, message) => {
    mkdirSync(join(folder, 'folder.csv'));

    expect(await admin.failure('inventory', 'export', join(folder, name))).toMatch(message);
    expect(readdirSync(folder)).toEqual(['folder.csv']);
  });
});

describe('npm run admin -- inventory import', () => {
  test('writes nothing unless every row is good, and names each fault with its line', async () => {
    const before = await textOf('/inventory');
    const file = written('bad.csv', 'petId,quantity,status', '1,1,sold', 'x,1,sold', '1,2,sold', '2,-1,sold');
    const { exitCode, stdout, stderr } = await admin.run('inventory', 'import', file);

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining('bad.csv:3: petId must be an int64'),
      expect.stringContaining('bad.csv:4: petId 1 is on line 2 too'),
      expect.stringContaining('bad.csv:5: quantity must be an integer'),
      '3 rows are wrong. Nothing was written.',
      '',
    ]);
    expect(await textOf('/inventory')).toBe(before);
  });

  test('reads no further after twenty wrong rows', async () => {
    const file = written('other.csv', 'petId,quantity,status', '1,1,sold\n'.repeat(30));
    const lines = (await admin.run('inventory', 'import', file)).stderr.split('\n');

    expect(lines.slice(0, 20).map((line) => line.replace(/.*csv:/, ''))).toEqual(
      Array.from({ length: 20 }, (_, index) => `${index + 3}: petId 1 is on line 2 too`),
    );
    expect(lines.slice(20)).toEqual(['After 20 wrong rows the file was not read further. Nothing was written.', '']);
  });

  test('replaces the entries that the file names and leaves the others; with --json it says how many', async () => {
    await admin.output('inventory', 'import', written('two.csv', 'petId,quantity,status', '7,1,sold', '8,7,available'));
    const file = written('one.jsonl', '{"petId":7,"quantity":77,"status":"sold"}');

    expect(await admin.json('inventory', 'import', file)).toEqual({ imported: 1, file });
    expect(await textOf('/inventory')).toMatch(/"petId":7,"quantity":77,.+"petId":8,"quantity":7,/);
  });

  test('says in one line how far it got where the store fails, and does the rest when it runs again', async () => {
    let writes = 0;
    link.faults = ({ action }) =>
      action === 'BatchWriteItem' && (writes += 1) > 5
        ? awsFault(400, 'AccessDeniedException', 'You may write no more.')
        : undefined;
    // More than one page of a list.
    const rows = Array.from({ length: 1_200 }, (_, index) => `${index + 50_001},1,sold`);
    const file = written('cut.csv', 'petId,quantity,status', ...rows);
    const cut = await new AdminCommand(link.origin).run('inventory', 'import', file);

    expect(failureLine(cut)).toMatch(
      /^The import stopped after \d+ of 1,200 stock entries: You may write no more\. Run the same command/,
    );
    expect(await admin.output('inventory', 'import', file)).toMatch(/^Imported 1,200 /);
    const petIds = (await textOf('/inventory')).match(/"petId":-?\d+/g) ?? [];
    expect(petIds.length).toBeGreaterThanOrEqual(1_200);
    const copy = join(folder, 'copy.jsonl');
    expect(await admin.json('inventory', 'export', copy)).toEqual({ exported: petIds.length, file: copy });
    expect(readFileSync(copy, 'utf8').match(/"petId":-?\d+/g)).toEqual(petIds);
  });

  test('of no file, or one without rows, says what to do in one line', async () => {
    expect(await admin.failure('inventory', 'import')).toContain("missing required argument 'file'");
    const empty = written('empty.csv', 'petId,quantity,status');
    expect(await admin.failure('inventory', 'import', empty)).toContain('empty.csv has no rows. Nothing was written.');
  });
});

describeOnTerminal('On a terminal, an import', () => {
  test('says after Ctrl-C how far it got, and leaves the terminal as it was', async () => {
    let writes = 0;
    link.faults = ({ action }) => (action === 'BatchWriteItem' && (writes += 1) > 5 ? { kind: 'silence' } : undefined);
    const rows = Array.from({ length: 1_200 }, (_, index) => `${index + 60_001},1,sold`);
    const file = written('stopped.csv', 'petId,quantity,status', ...rows);
    const terminal = new Terminal(`admin inventory import ${file} --url ${link.origin}`);
    await terminal.typeAt('125 of 1,200', '\u0003');
    const { exitCode, screen } = await terminal.ended();

    expect(exitCode).toBe(130);
    expect(stripVTControlCharacters(screen).trimEnd()).toMatch(
      /\n125 of 1,200 stock entries written; run it again to complete it\.$/,
    );
    expect(screen.lastIndexOf('\u001b[?7h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?7l'));
  });
});

test('npm run admin -- pets import loads every pet as GET /pets/{petId} shows it, and can run again', async () => {
  const rex =
    `{"id":${MAX_INT64},"category":{"id":${MIN_INT64},"name":"dogs"},"name":"Zoë 🐶",` +
    '"photoUrls":["https://images.example.com/1.jpg"],"tags":[{"id":9007199254740993,"name":"family"}]}';
  const ant = '{"id":-1,"name":"Ant","photoUrls":[]}';
  await host.stock.put(anEntry(MAX_INT64, 0, 'sold'));
  const file = written('pets.jsonl', rex, ant);
  for (const _ of ['first', 'again'])
    expect(await admin.output('pets', 'import', file)).toBe(`Imported 2 pets from ${file} into ${host.origin}.\n`);

  expect(await textOf(`/pets/${MAX_INT64}`)).toBe(rex.replace(/\}$/, ',"status":"sold"}'));
  expect(await textOf('/pets/-1')).toBe(ant);
  const copy = join(folder, 'copy.jsonl');
  expect(await admin.output('pets', 'export', copy)).toBe(`Exported 2 pets from ${host.origin} to ${copy}.\n`);
  expect(readFileSync(copy, 'utf8').trimEnd().split('\n').toSorted()).toEqual([ant, rex]);
});

test.each(['csv', 'jsonl'])(
  'npm run admin -- orders import loads .%s as GET /store/orders lists it',
  async (ending) => {
    const first = `{"id":1,"petId":${MAX_INT64},"quantity":2,"shipDate":"2026-12-01T10:00:00Z","status":"approved","complete":false}`;
    const last = `{"id":${MAX_INT64},"petId":7,"quantity":1,"status":"placed","complete":false}`;
    const header = 'id,petId,quantity,shipDate,status,complete';
    const rows = [`${MAX_INT64},7,1,,placed,FALSE`, `1,${MAX_INT64},2,2026-12-01T10:00:00Z,approved,FALSE`];
    const file = written(`orders.${ending}`, ...(ending === 'csv' ? [header, ...rows] : [last, first]));

    expect(await admin.output('orders', 'import', file)).toBe(`Imported 2 orders from ${file} into ${host.origin}.\n`);
    expect(await textOf('/store/orders')).toBe(`[${first},${last}]`);
    await admin.output('orders', 'export', file);
    const sorted = rows.toReversed().map((row) => row.replace('FALSE', 'false'));
    const lines = ending === 'csv' ? [header, ...sorted] : [first, last];
    expect(readFileSync(file, 'utf8')).toBe(`${lines.join('\n')}\n`);
  },
);

test.each<[string, string, readonly string[], string]>([
  [
    'without a column leaves its field as it is',
    'csv',
    ['id,petId,quantity,status,complete', '31,7,2,placed,false'],
    DATE,
  ],
  [
    'with an empty cell takes its field away',
    'csv',
    ['id,petId,quantity,shipDate,status,complete', '31,7,2,,placed,false'],
    '',
  ],
  [
    'of JSON lines replaces records whole',
    'jsonl',
    ['{"id":31,"petId":7,"quantity":2,"status":"placed","complete":false}'],
    '',
  ],
])('An import %s', async (_, ending, lines, date) => {
  const before = `{"id":31,"petId":7,"quantity":1,${DATE}"status":"placed","complete":false}`;
  await admin.output('orders', 'import', written('before.jsonl', before));
  await admin.output('orders', 'import', written(`after.${ending}`, ...lines));

  expect(await textOf('/store/orders')).toContain(`"id":31,"petId":7,"quantity":2,${date}"status":"placed"`);
});
