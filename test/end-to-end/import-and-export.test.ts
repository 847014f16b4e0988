import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { InventoryClient } from '../../shared/client/pet-store-inventory-client.ts';
import { recordToJson } from '../../shared/contract/exact-json.ts';
import { inventoryItemSchema, type InventoryUpdate, inventoryUpdateSchema } from '../../shared/contract/inventory.ts';
import { orderSchema } from '../../shared/contract/orders.ts';
import { petRecordSchema } from '../../shared/contract/pets.ts';
import { AdminCommand, adminTarget, describeOnTerminal, failureLine, Terminal } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, type Call, type Fault, FaultyLink } from '../support/faulty-engine.ts';
import { MAX_INT64 } from '../support/int64.ts';
import { LocalHost } from '../support/local-host.ts';
import { sampleOf } from '../support/sample-of.ts';
import { createStockTable } from '../support/tables.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const outer = temporaryDirectory();
let directory: string;
let link: FaultyLink;
let host: LocalHost;
let admin: AdminCommand;
let api: ApiClient;
let client: InventoryClient;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
  admin = new AdminCommand(host.origin);
  api = ApiClient.withKey(host.baseUrl, host.host.keys.enterprise);
  client = new InventoryClient({ baseUrl: host.baseUrl, apiKey: host.host.keys.enterprise });
});

afterAll(() => host?.close());

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  directory = mkdtempSync(join(outer, 'test-'));
});

afterEach(() => link?.close());

/** The path of a file of the test, with these lines if there are any. */
function fileOf(name: string, ...lines: string[]): string {
  const file = join(directory, name);
  if (lines.length > 0) writeFileSync(file, lines.join('\n'));
  return file;
}

const textOf = async (path: string): Promise<string> => (await api.send('GET', path)).text;
const petIdsIn = (text: string) => text.match(/"petId":-?\d+/g) ?? [];

const ORDERS = 'id,petId,quantity,shipDate,status,complete';

describe('An export has exactly what was imported:', () => {
  test('all rows, in place of what the file had before', async () => {
    const rows = [`1,${MAX_INT64},2,2026-12-01T10:00:00Z,approved,false`, `${MAX_INT64},7,1,,placed,true`];
    const file = fileOf('orders.csv', ORDERS, ...rows);
    expect(await admin.output('orders', 'import', file, '--dry-run')).toContain('2 new, 0 changed, 0 the same.');
    expect(await admin.output('orders', 'import', file)).toContain(`Imported 2 orders from ${file} into `);
    expect(await admin.output('orders', 'import', file)).toMatch(
      /^0 new, 0 changed, 2 the same\.\nNothing to import: http.* has all these orders\.\n$/,
    );
    writeFileSync(file, 'what was there before');
    fs.chmodSync(file, 0o620);
    const latest = fileOf('latest.csv');
    fs.symlinkSync('orders.csv', latest);
    expect(await admin.output('orders', 'export', latest)).toMatch(/^Exported 2 orders from http.* to .*\n$/);

    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toEqual([ORDERS, ...rows]);
    expect(readdirSync(directory)).toEqual(['latest.csv', 'orders.csv']);
    expect(fs.lstatSync(latest).isSymbolicLink()).toBe(true);
    expect(fs.statSync(file).mode & 0o777).toBe(0o620);
    fs.rmSync(file);
    expect(await admin.failure('orders', 'export', latest)).toMatch(/^Cannot write .*latest\.csv: ENOENT/);
    expect(await admin.json('orders', 'export', file)).toEqual({ exported: 2, file });
  });

  // Records are made from the schemas, so that a new field takes the same way without a change here.
  test.each([
    ['inventory', inventoryItemSchema, '/inventory', ['csv', 'jsonl']],
    ['orders', orderSchema, '/store/orders', ['csv', 'jsonl']],
    ['pets', petRecordSchema, `/pets/${MAX_INT64}`, ['jsonl']],
  ])('all fields of %s, which the API returns too', async (records, schema, path, endings) => {
    const record = recordToJson(sampleOf(schema));
    await admin.output(records, 'import', fileOf('record.jsonl', record));
    const response = await textOf(path);

    expect(response).toContain(record.slice(0, -1));
    for (const ending of endings) {
      const file = fileOf(`copy.${ending}`);
      await admin.output(records, 'export', file);
      expect(await admin.json(records, 'import', file)).toMatchObject({ imported: expect.any(Number) });
      expect(await textOf(path)).toBe(response);
    }
  });
});

// The fields of an update are those of its schema too.
const update = v.parse(inventoryUpdateSchema, sampleOf(inventoryUpdateSchema));
const others = Object.entries(v.parse(inventoryUpdateSchema, sampleOf(inventoryUpdateSchema, 'findLast')));
const stored = { petId: 8_001, status: 'sold', ...update };

/** The responses to an update, by how it is sent. */
const sent: Readonly<Record<string, () => Promise<readonly unknown[]>>> = {
  plain: async () => [JSON.parse((await api.patch(8_001, JSON.stringify(update))).text)],
  keyed: async () => {
    const idempotencyKey = randomUUID();
    const send = (fields: InventoryUpdate) => client.updateInventory(8_001n, fields, { idempotencyKey });
    const responses = [await send(update), await send(update)];
    for (const [name, value] of others)
      await expect(send({ ...update, [name]: value })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    return responses.map(({ data }) => data);
  },
  batch: async () =>
    (await client.updateInventories([{ petId: 8_001n, ...update }])).map(
      (row) => row.outcome === 'applied' && row.item,
    ),
};

test.each(Object.entries(sent))('Each field of an update is stored: %s', async (_, send) => {
  await admin.output('inventory', 'import', fileOf('one.jsonl', '{"petId":8001,"quantity":0,"status":"sold"}'));
  const responses = await send();
  const [entry] = /\{"petId":8001,[^{}]*\}/.exec(await textOf('/inventory')) ?? [];

  for (const json of [...responses.map(recordToJson), await textOf('/inventory/8001'), entry])
    expect(JSON.parse(json ?? '')).toEqual(stored);
});

const HEADER = 'petId,quantity,status';
/** More than one page of a list. */
const manyRows = (first: number) => [HEADER, ...Array.from({ length: 1_200 }, (_, index) => `${index + first},1,sold`)];
const isOfStock = ({ action, body }: Call): boolean => action === 'PutItem' && body.includes('"storeId"');

/** Lets so many items be written. */
function failAfter(count: number, fault: Fault): void {
  let writes = 0;
  link.faults = (call) => (isOfStock(call) && (writes += 1) > count ? fault : undefined);
}

describe('An import', () => {
  test('writes nothing if a row is invalid, and names each fault with its line', async () => {
    const before = await textOf('/inventory');
    const file = fileOf('bad.csv', HEADER, '1,1,sold', 'x,1,sold', '1,2,sold', '2,-1,sold');
    const { exitCode, stdout, stderr } = await admin.run('inventory', 'import', file);

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining('bad.csv:3: petId must be an int64'),
      expect.stringContaining('bad.csv:4: petId 1 is also on line 2'),
      expect.stringContaining('bad.csv:5: quantity must be an integer'),
      '3 rows are invalid. Nothing was written.',
      '',
    ]);
    expect(await textOf('/inventory')).toBe(before);
  });

  test('reports its progress if the store fails, and is completed by the same command', async () => {
    failAfter(5, awsFault(400, 'AccessDeniedException', 'You may write no more.'));
    const file = fileOf('cut.csv', ...manyRows(50_001));
    const cut = await new AdminCommand(link.origin).run('inventory', 'import', file);

    expect(failureLine(cut)).toMatch(
      /^The import stopped after \d+ of 1,200 stock entries: You may write no more\. Run the same command/,
    );
    expect(await admin.output('inventory', 'import', file)).toMatch(/Imported 1,19\d /);
    const petIds = petIdsIn(await textOf('/inventory'));
    expect(petIds.length).toBeGreaterThanOrEqual(1_200);
    const copy = fileOf('copy.jsonl');
    expect(await admin.json('inventory', 'export', copy)).toEqual({ exported: petIds.length, file: copy });
    expect(petIdsIn(readFileSync(copy, 'utf8'))).toEqual(petIds);
  });

  test('fails without rows; files are relative to the directory of the user', async () => {
    fileOf('empty.csv', HEADER);
    // As npm sets it.
    const { INIT_CWD } = process.env;
    process.env['INIT_CWD'] = directory;
    const failure = await admin.failure('inventory', 'import', 'empty.csv');
    await admin.output('inventory', 'export', 'copy.csv');
    process.env['INIT_CWD'] = INIT_CWD ?? '';
    expect(readdirSync(directory)).toEqual(['copy.csv', 'empty.csv']);
    expect(failure).toContain('empty.csv has no rows. Nothing was written.');
  });
});

test('inventory set and remove change an entry, and its history has all changes', async () => {
  await admin.output('inventory', 'import', fileOf('set.csv', HEADER, '70001,1,sold'), '--reason', 'by\u202e count');
  await admin.output('pets', 'import', fileOf('pet.jsonl', '{"id":70001,"name":"Rex","photoUrls":[]}'));
  const set = (...words: string[]) => admin.output('inventory', 'set', '70001', ...words);
  expect(await set('1,007')).toBe('Pet 70001 has quantity 1,007, status sold now.\n');
  expect(await set('--status', 'pending')).toBe('Pet 70001 has quantity 1,007, status pending now.\n');
  await set('9', '--status', 'available');
  await api.patch(70_001, '{"quantity":7}');
  expect(await textOf('/inventory/70001')).toBe('{"petId":70001,"quantity":7,"status":"available"}');

  const remove = ['inventory', 'remove', '70001'];
  const what = `the stock entry of pet 70001 (quantity 7, status available) from ${host.origin}`;
  const putBack = `To put it back, import a CSV file with the lines ${HEADER} and 70001,7,available.`;
  expect(await admin.failure(...remove)).toBe(`Remove ${what}? ${putBack} Pass --yes to confirm.`);
  expect(await admin.output(...remove, '--yes', '--reason', 'wrong id')).toBe(`Removed ${what}. ${putBack}\n`);
  expect((await api.send('GET', '/inventory/70001')).status).toBe(404);
  expect(await textOf('/pets/70001')).toBe('{"id":70001,"name":"Rex","photoUrls":[]}');

  const byKey = '7\t-2\tavailable\tDemo Enterprise (demo-enterprise) main/7JB0\tupdate\t\t';
  const history = await admin.output('inventory', 'history', '70001', '--days', '2');
  const [title, , , ...rows] = history.trimEnd().split('\n');
  expect(title).toBe('Pet 70001 (Rex) has no stock entry.');
  expect(rows.map((row) => row.replace(/^.*? UTC\t/, '').replaceAll(userInfo().username, 'ann'))).toEqual([
    'removed\t-7\t\tann\tremoval\t\twrong id',
    byKey,
    '9\t-998\tavailable\tann\tset\t\t',
    '1,007\t0\tpending\tann\tset\t\t',
    '1,007\t+1,006\tsold\tann\tset\t\t',
    '1\tnew\tsold\tann\timport\t\tby\\u202e count',
  ]);
  expect(await admin.output('inventory', 'history', '70001', '--csv')).toContain(',70001,new,1,,1,sold,');
  const changes = await admin.output('inventory', 'changes', '--key', 'demo-enterprise', '--since', '1h');
  expect(changes).toMatch(/^pet\t[^]*\n70001\t/);
  expect(changes).toContain(byKey);
});

test.each([
  [['set', '70002', '7'], 'Pet 70002 has no stock entry. To create one: npm run admin -- --url http'],
  [['set', '70001'], 'Nothing to set. Pass a quantity, --status or both.'],
  [['remove', '70002', '--yes'], 'Pet 70002 has no stock entry.'],
])('inventory %j fails with one line', async (words, message) => {
  expect(await admin.failure('inventory', ...words)).toContain(message);
});

test('restore counts the changes before it asks', async () => {
  const { documents } = await adminTarget(host);
  const copy = await createStockTable(documents);
  await documents.send(new PutCommand({ TableName: copy, Item: { storeId: 'main', petId: 80_001, quantity: 1 } }));

  expect(await admin.failure('restore', 'stock', '--from', copy)).toContain(
    `from ${copy}: 1 added, 0 changed, 0 deleted? Existing items stay unchanged. Pass --yes`,
  );
});

describe('An export', () => {
  test('leaves the file unchanged if the network fails', async () => {
    const file = fileOf('stock.csv', 'as it was');
    link.faults = ({ action }) => (action === 'Query' ? { kind: 'gone' } : undefined);
    expect(await new AdminCommand(link.origin).failure('inventory', 'export', file)).toMatch(
      /^The export stopped after 0 stock entries: No server responds at .+stock\.csv is unchanged\. Run the same command again\.$/,
    );

    expect(readdirSync(directory)).toEqual(['stock.csv']);
    expect(readFileSync(file, 'utf8')).toBe('as it was');
  });

  test.each([
    ['a directory', 'folder.csv', /^The export stopped after .* stock entries: EISDIR.*is unchanged/],
    ['an unsupported format', 'stock.xlsx', /^Cannot export to .*: its extension must be \.csv or \.jsonl\.$/],
  ])('to %s fails with one line that says why', async (_, name, message) => {
    mkdirSync(fileOf('folder.csv'));

    expect(await admin.failure('inventory', 'export', fileOf(name))).toMatch(message);
    expect(readdirSync(directory)).toEqual(['folder.csv']);
  });
});

describeOnTerminal('On a terminal, an import', () => {
  test('shows its progress, and restores the terminal after Ctrl-C', async () => {
    failAfter(125, { kind: 'silence' });
    const file = fileOf('stopped.csv', ...manyRows(60_001));
    const terminal = new Terminal(`admin inventory import ${file} --url ${link.origin}`);
    await terminal.typeAt('125 of 1,200', '\u0003');
    const { exitCode, screen } = await terminal.ended();

    expect(exitCode).toBe(130);
    expect(stripVTControlCharacters(screen).trimEnd()).toMatch(
      /\nInterrupted\. Run the same command again to complete it\.$/,
    );
    expect(screen.lastIndexOf('\u001b[?7h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?7l'));
  });
});
