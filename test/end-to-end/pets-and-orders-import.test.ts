import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminCommand, failureLine } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-link.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

const folder = temporaryFolder();
let host: LocalHost;
let admin: AdminCommand;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
  admin = new AdminCommand(host.origin);
  api = ApiClient.withKey(host.baseUrl, host.host.keys.enterprise);
});

afterAll(() => host.close());

function written(name: string, ...lines: string[]): string {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return file;
}

const getPet = (petId: string) => api.send('GET', `/pets/${petId}`);
const listOrders = async () => (await api.send('GET', '/store/orders')).text;

describe('npm run admin -- pets import', () => {
  const rex =
    `{"id":${LARGEST},"category":{"id":${SMALLEST},"name":"dogs"},"name":"Zoë 🐶",` +
    '"photoUrls":["https://images.example.com/1.jpg"],"tags":[{"id":9007199254740993,"name":"family"}]}';
  const ant = `{"id":${SMALLEST},"name":"Ant","photoUrls":[]}`;

  test('writes nothing unless every line is good, and names each fault with its line', async () => {
    const file = written('bad.jsonl', ant, '{"id":2}', ant, '{"id":3,"name":"a","photoUrls":[],"status":"sold"}');
    const { exitCode, stdout, stderr } = await admin.run('pets', 'import', file);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      `${file}:2: name is missing; photoUrls is missing`,
      `${file}:3: id ${SMALLEST} is on line 1 too`,
      `${file}:4: status comes from the stock entry: leave it out, and load it with inventory import`,
      '3 rows are wrong. Nothing was written.',
      '',
    ]);
    expect((await getPet(SMALLEST)).status).toBe(404);
  });

  test('loads every pet as GET /pets/{petId} shows it, with the status of its stock entry, and can run again', async () => {
    await host.putStock({ petId: BigInt(LARGEST), quantity: 0, status: 'sold' });
    const file = written('pets.jsonl', rex, ant);
    for (const _ of ['first', 'again']) {
      expect(await admin.output('pets', 'import', file)).toBe(`Imported 2 pets from ${file} into ${host.origin}.\n`);
    }
    expect(await getPet(LARGEST)).toMatchObject({ status: 200, text: rex.replace(/\}$/, ',"status":"sold"}') });
    expect(await getPet(SMALLEST)).toMatchObject({ status: 200, text: ant });
  });

  test('replaces the pets that the file names, whole, and leaves the others; with --json it says how many', async () => {
    await admin.output('pets', 'import', written('pets.jsonl', rex, ant));
    const file = written('one.jsonl', `{"id":${LARGEST},"name":"Rex","photoUrls":[]}`);
    expect(await admin.json('pets', 'import', file)).toEqual({ imported: 1, file });
    expect(JSON.parse((await getPet(LARGEST)).text)).not.toHaveProperty('tags');
    expect((await getPet(SMALLEST)).text).toBe(ant);
  });

  test.each([
    ['without a file', [], "missing required argument 'file'"],
    ['with a CSV file', ['pets.csv'], 'its name must end in .jsonl: a pet has lists'],
  ])('%s says what to do in one line', async (_, words, message) => {
    expect(await admin.failure('pets', 'import', ...words)).toContain(message);
  });
});

describe('npm run admin -- orders import', () => {
  const HEADER = 'id,petId,quantity,shipDate,status,complete';
  const first = `{"id":1,"petId":${LARGEST},"quantity":2,"shipDate":"2026-12-01T10:00:00Z","status":"approved","complete":false}`;
  const last = `{"id":${LARGEST},"petId":7,"quantity":1,"status":"placed","complete":false}`;

  test('writes nothing unless every row is good, and names each fault with its line', async () => {
    const file = written('bad.csv', HEADER, '1,1,1,,placed,false', '2,1,1,,sold,false', '1,1,1,,placed,false');
    const { exitCode, stderr } = await admin.run('orders', 'import', file);
    expect(exitCode).toBe(1);
    expect(stderr.split('\n')).toEqual([
      `${file}:3: status must be one of placed, approved, delivered, not "sold"`,
      `${file}:4: id 1 is on line 2 too`,
      '2 rows are wrong. Nothing was written.',
      '',
    ]);
    expect(await listOrders()).toBe('[]');
  });

  test.each([
    ['orders.csv', [HEADER, `${LARGEST},7,1,,placed,FALSE`, `1,${LARGEST},2,2026-12-01T10:00:00Z,approved,FALSE`]],
    ['orders.jsonl', [last, first]],
  ])('loads %s as GET /store/orders lists it, and can run again', async (name, lines) => {
    const file = written(name, ...lines);
    expect(await admin.output('orders', 'import', file)).toBe(`Imported 2 orders from ${file} into ${host.origin}.\n`);
    expect(await listOrders()).toBe(`[${first},${last}]`);
  });

  test('replaces the orders that the file names, and leaves the others; with --json it says how many', async () => {
    await admin.output('orders', 'import', written('orders.jsonl', first, last));
    const file = written('one.csv', HEADER, '1,5,9,,placed,true');
    expect(await admin.json('orders', 'import', file)).toEqual({ imported: 1, file });
    expect(await listOrders()).toBe(`[{"id":1,"petId":5,"quantity":9,"status":"placed","complete":true},${last}]`);
  });

  test('says in one line how far it got where the store fails', async () => {
    const link = await FaultyLink.to(host.origin);
    link.faults = ({ action }) =>
      action === 'BatchWriteItem' ? awsFault(400, 'AccessDeniedException', 'You may not write.') : undefined;
    const cut = await new AdminCommand(link.origin).run('orders', 'import', written('cut.jsonl', first, last));
    await link.close();

    expect(failureLine(cut)).toBe(
      'The import stopped after 0 of 2 orders: You may not write. Run the same command again: it writes all of them once more.',
    );
  });
});
