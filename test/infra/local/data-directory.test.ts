import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Level } from 'level';
import { makeDirectory, openDataDirectory } from '../../../infra/local/data-directory.ts';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/dynamodb/engine.ts';
import { createEngineServer } from '../../../infra/local/dynamodb/engine-server.ts';
import { account, localCredentials as credentials } from '../../../infra/local-endpoint.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { LogGroups } from '../../../infra/local/log-groups.ts';
import { tableResource } from '../../support/tables.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { localEndpoint } from '../../support/engines.ts';
import { close, engineAt, listen } from '../../support/listening.ts';

const root = temporaryDirectory();

/** Does something with a client of an engine, and stops the engine. */
async function withEngine<Result>(engine: Engine, act: (client: DynamoDBClient) => Promise<Result>): Promise<Result> {
  const { region } = account;
  const client = new DynamoDBClient({ endpoint: engine.endpoint.href, region, credentials, maxAttempts: 1 });
  try {
    return await act(client);
  } finally {
    client.destroy();
    await engine.close();
  }
}

test.each([
  ['no mark', undefined, 'unknown'],
  ['the mark of the version before this', '5\n', '5'],
])('a data directory with %s is refused, and the error says how to keep its data', (name, mark, format) => {
  const directory = path.join(root, name);
  mkdirSync(path.join(directory, 'dynamodb'), { recursive: true });
  if (mark !== undefined) writeFileSync(path.join(directory, 'format'), mark);
  const message = `^The data directory ${directory} has the format ${format} of another [^\n]+ this one has 6\\. [^\n]+$`;

  expect(() => openDataDirectory(directory)).toThrow(new RegExp(message));
  expect(() => openDataDirectory(directory)).toThrow(/npm run admin -- inventory export FILE, .*API keys .*cannot be/);
});

test.each([
  ['where the system allows none', '/proc/pet-store/data', /E(?:NOENT|ACCES|PERM|ROFS)/],
  ['below a file', path.join(import.meta.filename, 'data'), /ENOTDIR/],
])('a data directory %s fails the start with the reason from the system', (_, directory, reason) => {
  expect(() => openDataDirectory(directory)).toThrow(reason);
  expect(() => openDataDirectory(directory)).toThrow(
    /^The data directory .* cannot be used: .* or choose another with --data\.$/,
  );
});

const modeOf = (directory: string) => (statSync(directory).mode & 0o777).toString(8);

test('new directories are private to their owner, even in a shared data directory', () => {
  const shared = path.join(root, 'shared');
  mkdirSync(shared, { mode: 0o755 });
  openDataDirectory(shared);
  const fresh = path.join(root, 'fresh');
  openDataDirectory(fresh);

  expect([fresh, makeDirectory(shared, 'logs'), makeDirectory(shared, 'dynamodb')].map(modeOf)).toEqual([
    '700',
    '700',
    '700',
  ]);
});

describe('The log groups of a server', () => {
  const directory = path.join(root, 'logs');
  const errors = jest.spyOn(process.stderr, 'write');

  beforeEach(() => {
    mkdirSync(directory, { recursive: true });
    errors.mockReset().mockReturnValue(true);
  });
  afterAll(() => errors.mockRestore());

  test('append to existing files, flush on close, and ignore later writes', async () => {
    for (const text of ['first\n', 'second\n']) {
      const logGroups = new LogGroups(directory);
      for (let lines = 0; lines < 100; lines++) logGroups.write('stock', text);
      await logGroups.close();
      logGroups.write('stock', 'late\n');
    }

    expect(readFileSync(path.join(directory, 'stock.log'), 'utf8')).toBe(
      'first\n'.repeat(100) + 'second\n'.repeat(100),
    );
    expect(errors).not.toHaveBeenCalled();
  });

  test('rotate a file above 10 MB and keep the old one', async () => {
    writeFileSync(path.join(directory, 'long.log'), 'x'.repeat(10 * 1024 * 1024 + 1));
    const logGroups = new LogGroups(directory);
    logGroups.write('long', 'new\n');
    await logGroups.close();

    expect(readFileSync(path.join(directory, 'long.log'), 'utf8')).toBe('new\n');
    expect(statSync(path.join(directory, 'long.log.1')).size).toBe(10 * 1024 * 1024 + 1);
  });

  test('stop after a failed write, with one notice', async () => {
    symlinkSync('/dev/full', path.join(directory, 'full.log'));
    const logGroups = new LogGroups(directory);
    for (let lines = 0; lines < 3; lines++) {
      logGroups.write('full', 'text\n');
      await setTimeout(20);
    }
    await logGroups.close();

    expect(errors.mock.calls).toEqual([[expect.stringMatching(/^Logging has stopped: ENOSPC/)]]);
  });
});

const tableNames = async (client: DynamoDBClient) => (await client.send(new ListTablesCommand({}))).TableNames;

test('a query closes its store iterator', async () => {
  const opened = jest.spyOn(Level.prototype, 'values');
  const callers = new Map([['/', [{ actions: ['*'], resources: ['*'] }]]]);
  const server = await createEngineServer({ directory: path.join(root, 'queried'), mustExist: false, callers });
  const engine = { ...engineAt(localEndpoint(await listen(server))), close: () => close(server) };
  await withEngine(engine, async (client) => {
    await createTables(client, [tableResource('stock', { storeId: 'S', petId: 'N' })]);
    const query = new QueryCommand({
      TableName: 'stock',
      KeyConditionExpression: 'storeId = :one',
      ExpressionAttributeValues: { ':one': { S: '1' } },
    });
    for (let count = 0; count < 5; count++) await client.send(query);

    const iterators = opened.mock.results.flatMap((result) => (result.type === 'return' ? [result.value] : []));

    expect(iterators).toHaveLength(5);
    for (const iterator of iterators) await expect(iterator.next()).rejects.toThrow('Iterator is not open');
  });
  opened.mockRestore();
});

describe('tables in a data directory', () => {
  const stock = tableResource('stock', { storeId: 'S', petId: 'N' });
  const orders = tableResource('orders', { storeId: 'S', orderId: 'N' });

  test('are created anew where a server was creating them when it was killed', async () => {
    const directory = path.join(root, 'killed');
    await withEngine(await startEmbeddedEngine(directory), (client) => createTables(client, [stock, orders]));
    const store = new Level<string, object>(path.join(directory, 'dynamodb'), { valueEncoding: 'json' });
    await store.put('table~stock', { ...(await store.get('table~stock')), TableStatus: 'CREATING' });
    await store.close();
    const listed = await withEngine(await startEmbeddedEngine(directory), tableNames);
    await withEngine(await startEmbeddedEngine(directory), (client) => createTables(client, [stock, orders]));

    expect(listed).toEqual(['orders']);
    expect(await withEngine(await startEmbeddedEngine(directory), tableNames)).toEqual(['orders', 'stock']);
  });

  test.each([
    ['has no CURRENT', (store: string) => rmSync(`${store}/CURRENT`), 'does not exist'],
    ['points nowhere', (store: string) => writeFileSync(`${store}/CURRENT`, 'MANIFEST-9\n'), 'MANIFEST-9'],
  ])('are refused, and not replaced by an empty store, if the store %s', async (name, damage, reason) => {
    const directory = path.join(root, name);
    await withEngine(await startEmbeddedEngine(directory), (client) => createTables(client, [stock]));
    damage(path.join(directory, 'dynamodb'));

    await expect(startEmbeddedEngine(directory)).rejects.toMatchObject({
      name: 'LocalServerError',
      message: expect.stringMatching(
        new RegExp(`${reason}.* or restore or delete damaged files, or choose another with --data.$`),
      ),
    });
  });

  const { KeySchema } = stock;
  const byPet = { IndexName: 'byPet', KeySchema, Projection: { ProjectionType: 'ALL' } } as const;

  test.each([
    ['another key', tableResource('stock', { storeId: 'S' })],
    ['an index', { ...stock, GlobalSecondaryIndexes: [byPet] }],
    ['another index', { ...stock, GlobalSecondaryIndexes: [{ ...byPet, IndexName: 'other' }, byPet] }],
  ])('fail the start as another version if one has %s', async (_, other) => {
    const creating = withEngine(await startEmbeddedEngine(undefined), async (client) => {
      await createTables(client, [other]);
      await createTables(client, [other]);
      await createTables(client, [stock]);
    });

    await expect(creating).rejects.toMatchObject({
      name: 'LocalServerError',
      message: 'The table stock is of another version of the service. Choose another data directory with --data.',
    });
  });
});
