import path from 'node:path';
import {
  CreateTableCommand,
  DescribeTableCommand,
  ListTablesCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { GetCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startEmbeddedEngine, type Engine } from '../../infra/local/dynamodb/engine.ts';
import { stages, type TableName, tableNames } from '../../infra/stages.ts';
import { writeItems } from '../../infra/write-items.ts';
import { AdminCommand, type CreatedKey, whilePausing } from '../support/admin-command.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { anEntry, nameOf, parsed, StockTable } from '../support/tables.ts';
import { synthesizeApps } from '../support/synthesize-once.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SPOILT = '970001';
const LOST = '970002';
const PER_DAY = 12;

// They go after the host has ended.
const folder = temporaryFolder();
const assembly = path.join(folder, 'restored');
const dataFolder = temporaryFolder();

const restoredTables = {
  stock: 'staging-stock-restored',
  keys: 'staging-keys-restored',
  pets: 'staging-pets-restored',
  orders: 'staging-orders-restored',
  requests: 'staging-requests-restored',
};

const update = (api: ApiClient, quantity: number, headers: Record<string, string> = {}): Promise<Answer> =>
  api.send('PATCH', `/inventory/${SPOILT}`, {
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ quantity }),
  });
const onlyOnce = { 'Idempotency-Key': '"before the accident"' };

/**
 * An accident, and the way back that docs/operating/backup-and-restore.md describes. What API Gateway keeps (keys, usage
 * plans) is in the data folder, and outlives the hosts as it outlives a deploy.
 */
describe('Tables that were restored', () => {
  let engine: Engine;
  let clock: HostClock;
  let host: LocalHost;
  let tableOfStack: (name: TableName) => string;
  let key: IssuedKey;
  let revoked: IssuedKey;
  let admin: AdminCommand;
  /** A key whose tokens `main` and `reports` leaked after the backup: the first was rotated, the second ended. */
  let leaked: Record<'main' | 'app' | 'reports' | 'rotated', CreatedKey>;
  /** One that was suspended since. A token of it was ended. */
  let isSuspended: CreatedKey;
  /** What the sync of the restored table said, before it was used. */
  let synced: string;
  let api: ApiClient;
  /** Answer from before the accident. */
  let updated: Answer;
  let usedBefore: number;

  const startHost = (options: { readonly assembly?: string } = {}): Promise<LocalHost> =>
    LocalHost.start({ dynamodb: engine.endpoint, dataFolder, ...options });

  /** Starts the next host; its keys are looked up in the tables that it has. */
  async function restart(options: { readonly assembly?: string } = {}): Promise<void> {
    await host.close();
    host = await startHost(options);
    key = new IssuedKey(host, key.token);
    revoked = new IssuedKey(host, revoked.token);
    admin = new AdminCommand(host.origin);
    api = ApiClient.withKey(host.baseUrl, key.token);
  }

  const entryIn = (table: string, petId: string) => new StockTable(host.documents, table).read(petId);

  /** What RestoreTableToPointInTime makes of a table: another one with its keys, and its items as they are. */
  async function restoreTable(source: string, TableName: string): Promise<void> {
    const client = host.documents;
    const { Table } = await client.send(new DescribeTableCommand({ TableName: source }));
    const { AttributeDefinitions, KeySchema } = Table ?? {};
    const BillingMode = 'PAY_PER_REQUEST';
    await client.send(new CreateTableCommand({ TableName, BillingMode, AttributeDefinitions, KeySchema }));
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 }, { TableName });
    for await (const { Items = [] } of paginateScan({ client }, { TableName: source, ConsistentRead: true })) {
      await writeItems(client, TableName, Items, (item) => item);
    }
  }

  beforeAll(async () => {
    synthesizeApps(folder, { restored: [{ ...stages.staging, restoredTables }] });
    engine = await startEmbeddedEngine(undefined);
    clock = new HostClock();
    host = await startHost();
    const { TableNames = [] } = await host.documents.send(new ListTablesCommand({}));
    tableOfStack = (name) => TableNames.find((table) => table.toLowerCase().includes(`-tables${name}`)) ?? '';
    await host.stock.putAll([anEntry(SPOILT, 5), anEntry(LOST, 2, 'sold')]);
    key = await issueKey(host, { perMinute: 1_000, perDay: PER_DAY });
    revoked = await issueKey(host);
    admin = new AdminCommand(host.origin);
    // A command waits until no environment remembers the key as it was. Here it is the clock of the host that goes on.
    whilePausing((milliseconds) => clock.moveTo(clock.now + milliseconds));
    const create = () => admin.newKey('create', '--name', 'acme', '--plan', 'free');
    const endToken = (token: CreatedKey) => admin.output('keys', 'end', token.id, '--token', nameOf(token), '--yes');
    const add = ({ id }: CreatedKey, label: string) => admin.newKey('add', id, '--label', label);
    const main = await create();
    leaked = { main, app: await add(main, 'app'), reports: await add(main, 'reports'), rotated: main };
    isSuspended = await create();
    const appOfSuspended = await add(isSuspended, 'app');
    api = ApiClient.withKey(host.baseUrl, key.token);
    updated = await update(api, 7, onlyOnce);
    usedBefore = (await key.read()).dayUsed;
    for (const name of tableNames) await restoreTable(tableOfStack(name), restoredTables[name]);
    // The accident, and what went on meanwhile.
    await update(api, 0);
    await host.stock.delete(LOST);
    host.host.records.deleteApiKey((await revoked.read()).keyId);
    await revoked.delete();
    leaked.rotated = await admin.newKey('rotate', leaked.main.id, '--grace', '0s');
    await endToken(leaked.reports);
    await endToken(appOfSuspended);
    await admin.output('keys', 'suspend', isSuspended.id);
    synced = await admin.output('keys', 'sync', '--table', restoredTables.keys);
    await restart({ assembly });
  }, 60_000);

  afterAll(async () => {
    await host.close();
    await engine.close();
    clock.release();
  });

  test('go on counting from what was used then', async () => {
    expect(await api.send('GET', '/pets/101')).toMatchObject({
      status: 200,
      rateLimit: { remaining: PER_DAY - usedBefore - 1 },
    });
  });

  test('give the stock as it was', async () => {
    const { text } = await api.list();

    expect(text).toContain(`{"petId":${SPOILT},"quantity":7,"status":"available"}`);
    expect(text).toContain(`{"petId":${LOST},"quantity":2,"status":"sold"}`);
  });

  test('know what was done before, and do it no second time', async () => {
    const again = await update(api, 7, onlyOnce);

    expect(again).toMatchObject({ status: 200, text: updated.text });
    expect(again.headers.get('ETag')).toBe(updated.headers.get('ETag'));
  });

  test('are updated, with the ETag of before, and without touching those they replace', async () => {
    expect(await update(api, 9, { 'If-Match': updated.headers.get('ETag') ?? '' })).toMatchObject({ status: 200 });

    expect(await entryIn(restoredTables.stock, SPOILT)).toMatchObject({ quantity: 9 });
    expect(await entryIn(tableOfStack('stock'), SPOILT)).toMatchObject({ quantity: 0 });
    expect(await entryIn(tableOfStack('stock'), LOST)).toBeUndefined();
  });

  const listWith = (token: string) => ApiClient.withKey(host.baseUrl, token).list();
  const refused = { status: 401, error: { code: 'API_KEY_INVALID' } };

  test('have no keys open that were revoked since: a sync has closed them before the table was used', async () => {
    const Key = { recordId: parsed(revoked.token).recordId };
    const { Item } = await host.documents.send(new GetCommand({ TableName: host.keysTable, Key }));

    expect(synced).toContain(' 2 disabled, 1 removed,');
    expect(Item).toMatchObject({ enabled: false, revoked: true });
    expect(await listWith(revoked.token)).toMatchObject(refused);
  });

  const statusesOf = (tokens: readonly { readonly key: string }[]) =>
    Promise.all(tokens.map(async ({ key: token }) => (await listWith(token)).status));

  test('do not bring a leaked token back: its key is closed until it is rotated, and all its other tokens are ended', async () => {
    const { id } = leaked.main;
    const tokens = [leaked.main, leaked.reports, leaked.app, leaked.rotated];

    expect(synced).toContain(`The key ${id} was restored with tokens that had been ended, and is closed: rotate it.`);
    expect(await statusesOf(tokens)).toEqual([401, 401, 401, 401]);
    expect(await admin.output('keys', 'sync')).toContain(' 0 changed,');
    for (const words of [['resume'], ['add', '--label', 'more']])
      expect(await admin.failure('keys', ...words, id)).toContain('Rotate it instead');
    const replacement = await admin.newKey('rotate', id);
    expect(await statusesOf([replacement, ...tokens])).toEqual([200, 401, 401, 401, 401]);
    expect(await admin.output('keys', 'sync')).not.toContain(id);
    expect(await statusesOf([replacement, ...tokens])).toEqual([200, 401, 401, 401, 401]);
  });

  test('let no token be ended before a sync, which would hide that others came back', async () => {
    const { id, key: token } = await admin.newKey('create', '--name', 'acme', '--plan', 'free');
    const app = await admin.newKey('add', id, '--label', 'app');
    const before = await new IssuedKey(host, token).read();
    await admin.output('keys', 'end', id, '--token', nameOf(app), '--yes');
    await new IssuedKey(host, token).put(before);

    for (const words of [['rotate'], ['end', '--token', nameOf(app), '--yes']])
      expect(await admin.failure('keys', ...words, id)).toContain(' keys sync, which closes it');
    await admin.output('keys', 'sync');
    // The clock of the admin who ended it was ahead.
    const { records } = host.host;
    const endedAt = clock.now + 3_600_000;
    const tags = { 'tokens-ended': new Date(endedAt).toISOString() };
    for (const apiKey of records.apiKeys.filter((each) => each.id === id)) records.putApiKey({ ...apiKey, tags });
    await admin.newKey('rotate', id);
    expect(await new IssuedKey(host, token).read()).toMatchObject({ enabled: true, tokensEndedAt: endedAt + 1 });
  });

  test('leave a key closed that was suspended since, until it is rotated and resumed', async () => {
    const replacement = await admin.newKey('rotate', isSuspended.id);

    expect(await statusesOf([replacement])).toEqual([401]);
    await admin.output('keys', 'resume', isSuspended.id);
    expect(await statusesOf([replacement])).toEqual([200]);
  });

  test('of another kind are no keys table, which a sync says', async () => {
    expect(await admin.failure('keys', 'sync', '--table', restoredTables.stock)).toContain(
      'has items that are no keys',
    );
    expect(await admin.failure('keys', 'sync', '--table', 'nowhere')).toContain('There is no table nowhere at');
  });

  test('are left again by the next deploy without them, which finds the tables of the stack as they were', async () => {
    await restart();

    const { text, rateLimit } = await api.list();
    expect(text).toContain(`{"petId":${SPOILT},"quantity":0,"status":"available"}`);
    expect(text).not.toContain(LOST);
    // One for the accident, one for this list.
    expect(rateLimit.remaining).toBe(PER_DAY - usedBefore - 2);
  });
});
