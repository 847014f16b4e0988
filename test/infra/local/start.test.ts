import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../../../infra/demo-keys.ts';
import { GatewayRecords, gatewayTable } from '../../../infra/local/control-plane/gateway-records.ts';
import { makeDirectory, openDataDirectory } from '../../../infra/local/directories.ts';
import { startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { usageMeter } from '../../../infra/local/gateway/usage-meter.ts';
import { logGroupsIn } from '../../../infra/local/log-groups.ts';
import { parseStartOptions } from '../../../infra/local/options.ts';
import { issueDemoKeys, loadSampleData } from '../../../infra/local/prepare-data.ts';
import { sampleOrders, samplePets } from '../../../infra/local/sample-data.ts';
import { NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { findPet } from '../../../shared/stores/find-pet.ts';
import { orderList } from '../../../shared/stores/order-list.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { STORE_ID } from '../../../shared/stores/stock-store.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { anApiKey, aUsagePlan } from '../../support/gateway-records.ts';
import { recordFaults } from '../../support/request-lines.ts';
import { aKey, createOrdersTable, createPetsTable, createStockTable, KeysTable, parsed } from '../../support/tables.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const root = temporaryDirectory();
const database = new EmbeddedDatabase();

function withFile(name: string): string {
  const directory = path.join(root, `file-${name}`);
  mkdirSync(directory);
  writeFileSync(path.join(directory, 'format'), '6\n');
  writeFileSync(path.join(directory, name), '');
  return directory;
}

/** The errors that the start prints in one line, without a stack. */
const localServerError = (message: string): unknown =>
  expect.objectContaining({ name: 'LocalServerError', message: expect.stringMatching(new RegExp(message)) });

const errors = recordFaults();

describe('npm start', () => {
  const defaults = { port: 3000, host: '127.0.0.1', data: '.local', sampleData: true, quiet: false, json: false };

  test.each<[readonly string[], object]>([
    [[], {}],
    [['--quiet', '--json'], { quiet: true, json: true }],
    [['--port', '8080', '--data', 'memory'], { port: 8080, data: 'memory' }],
  ])('accepts %j', (args, differences) => {
    expect(parseStartOptions(args)).toEqual({ ...defaults, ...differences });
  });

  test.each([
    ['--port', '65536'],
    ['--data', ''],
    ['--prot', '80'],
  ])('refuses %s "%s" with one line that names it and the help', (option, value) => {
    expect(() => parseStartOptions([option, value])).toThrow(
      localServerError(`^[^\n]*${option}[^\n]*\\(see npm start -- --help\\)$`),
    );
    expect(errors()).toEqual([]);
  });
});

describe('a data directory', () => {
  test.each([
    ['no mark', undefined, 'unknown'],
    ['the mark of the version before this', '5\n', '5'],
    ['a damaged mark', '\u001b[31m\u202e7', '\\\\u001b\\[31m\\\\u202e7'],
  ])('with %s is refused, and the error says how to keep its data', (name, mark, format) => {
    const directory = path.join(root, name);
    mkdirSync(path.join(directory, 'dynamodb'), { recursive: true });
    if (mark !== undefined) writeFileSync(path.join(directory, 'format'), mark);

    expect(() => openDataDirectory(directory)).toThrow(
      localServerError(
        `^The data directory ${directory} has the format ${format} of another [^\n]+ this one has 6\\. [^\n]+` +
          'npm run admin -- inventory export FILE, [^\n]+API keys [^\n]+cannot be [^\n]+$',
      ),
    );
  });

  test.each([
    ['where the system allows none', '/proc/pet-store/data', 'E(?:NOENT|ACCES|PERM|ROFS)'],
    ['below a file', path.join(import.meta.filename, 'data'), 'ENOTDIR'],
    ['whose database is a file', withFile('dynamodb'), 'ENOTDIR'],
  ])('%s fails the start with the reason from the system', async (_, directory, reason) => {
    await expect(startEmbeddedEngine(directory)).rejects.toThrow(
      localServerError(`^The data directory .* cannot be used: .*${reason}.* or choose another with --data\\.$`),
    );
  });

  test('is private to its owner if it is new, and so are its new directories', () => {
    const [shared, fresh] = [path.join(root, 'shared'), path.join(root, 'fresh')];
    mkdirSync(shared, { mode: 0o755 });
    for (const directory of [shared, fresh]) openDataDirectory(directory);

    for (const directory of [fresh, makeDirectory(shared, 'logs'), makeDirectory(shared, 'dynamodb')])
      expect(statSync(directory).mode & 0o777).toBe(0o700);
  });
});

describe('the log groups of a server', () => {
  const directory = makeDirectory(root, 'logs');

  test('append to existing files', () => {
    for (const text of ['first\n', 'second\n']) {
      const write = logGroupsIn(directory);
      for (let lines = 0; lines < 100; lines++) write('stock', text);
    }

    const log = readFileSync(path.join(directory, 'stock.log'), 'utf8');
    expect(log).toBe('first\n'.repeat(100) + 'second\n'.repeat(100));
  });

  test('rotate a file above 10 MB once, and keep the old one', () => {
    const [file, text] = [path.join(directory, 'long.log'), 'x'.repeat(10 * 1024 * 1024 + 1)];
    writeFileSync(file, text);
    const write = logGroupsIn(directory);
    for (const line of [text, 'new\n']) write('long', line);

    expect(readFileSync(file, 'utf8')).toBe(`${text}new\n`);
    expect(statSync(`${file}.1`).size).toBe(text.length);
  });

  test('stop after a failed write, with one notice', () => {
    symlinkSync('/dev/full', path.join(directory, 'full.log'));
    const write = logGroupsIn(directory);
    for (let lines = 0; lines < 3; lines++) write('full', 'text\n');

    expect(errors()).toEqual([[expect.stringMatching(/^Logging has stopped: .*ENOSPC/)]]);
  });
});

describe('a start issues the demo keys', () => {
  let table: KeysTable;
  let records: GatewayRecords;

  /** Issues them with what the last start has stored. */
  async function start(): Promise<void> {
    records = new GatewayRecords(database.client);
    await records.load();
    // Their ids and names say nothing.
    for (const [index, plan] of planIds.entries())
      records.putUsagePlan(aUsagePlan({ id: `Plan${index}`, tags: { plan } }));
    await issueDemoKeys(database.client, table.name, records);
  }

  beforeEach(async () => {
    table = await KeysTable.create(database.client);
    await createTables(database.client, [gatewayTable]);
    await start();
  });
  afterEach(() => database.client.send(new DeleteTableCommand({ TableName: gatewayTable.TableName })));

  test.each([
    ['of a later kind', { kind: 'later' }],
    ['without a value', { content: '{"id":"damaged"}' }],
    ['that is no JSON', { content: '\u001b{' }],
  ])('but not over an item %s, which fails with one line', async (_, differences) => {
    const Item = { kind: 'apiKey', id: 'damaged', ...differences };
    await database.client.send(new PutCommand({ TableName: gatewayTable.TableName, Item }));
    const oneLine = '^The data directory cannot be used: [^\n\u001b]+ Choose another with --data\\.$';
    await expect(start()).rejects.toThrow(localServerError(oneLine));
  });

  test.each(planIds)('of %s: in the table and on its usage plan', async (plan) => {
    const token = demoKey(plan);
    const { recordId, hash } = parsed(token);
    const ofToken = { until: NO_EXPIRY, access: 'full', label: 'main', last: token.slice(-4) };
    expect(await table.read(aKey({}, token))).toMatchObject({
      recordId,
      keyId: `demo-${plan}`,
      name: `Demo ${plans[plan].title}`,
      plan,
      ...limitsOfDemoKey(plan),
      enabled: true,
      revoked: false,
      tokens: { [hash]: { ...ofToken, since: expect.any(Number) } },
    });

    expect(usageMeter(records)(recordId, '/inventory/GET', Date.now())).toBe(`demo-${plan}`);
    expect(records.plansOfKey(`demo-${plan}`)).toMatchObject([{ tags: { plan } }]);
    // Its limits are agreed, and stand on the key.
    const agreed = plan === 'enterprise' ? { 'per-minute': '48000', 'per-day': '10000000' } : {};
    expect(records.apiKey(`demo-${plan}`)?.tags).toEqual(agreed);
  });

  test('once: changes and deletions by an admin stay', async () => {
    await records.saveApiKey(anApiKey({ id: 'demo-pro', enabled: false }));
    await records.removeApiKey('demo-free');
    await start();

    expect(records.apiKey('demo-pro')).toMatchObject({ enabled: false });
    expect(records.plansOfKey('demo-pro')).toEqual([]);
    expect(records.apiKey('demo-free')).toBeUndefined();
  });

  test('again if the last start was killed before the key reached API Gateway', async () => {
    const Key = { kind: 'demoKey', id: 'pro' };
    await database.client.send(new DeleteCommand({ TableName: gatewayTable.TableName, Key }));
    await records.removeApiKey('demo-pro');
    await start();

    expect(records.plansOfKey('demo-pro')).toMatchObject([{ tags: { plan: 'pro' } }]);
  });
});

test('sample data is loaded only into empty tables', async () => {
  const { client } = database;
  const stock = await createStockTable(client);
  const pets = await createPetsTable(client);
  const orders = await createOrdersTable(client);
  const Item = { storeId: STORE_ID, petId: -1, quantity: 5, status: 'sold' };
  await client.send(new PutCommand({ TableName: stock, Item }));
  await loadSampleData(client, { stock, pets, orders });

  expect(await Array.fromAsync(stockList(client, stock).all())).toEqual([
    [{ petId: '-1', quantity: 5, status: 'sold' }],
  ]);
  expect((await Array.fromAsync(orderList(client, orders).all())).flat()).toEqual(sampleOrders);
  expect(await Promise.all(samplePets.map(({ id }) => findPet(client, pets, id)))).toEqual(samplePets);
});
