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
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { AdminCommand } from '../support/admin-command.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { synthesizeApps } from '../support/synthesize-once.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SPOILT = 970_001n;
const LOST = 970_002n;
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
    api = ApiClient.withKey(host.baseUrl, key.token);
  }

  const itemOf = async (table: string, petId: bigint) => {
    const Key = { storeId: STORE_ID, petId };
    return (await host.documents.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
  };

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
    await host.putStock(
      { petId: SPOILT, quantity: 5, status: 'available' },
      { petId: LOST, quantity: 2, status: 'sold' },
    );
    key = await issueKey(host, { perMinute: 1_000, perDay: PER_DAY });
    revoked = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
    updated = await update(api, 7, onlyOnce);
    usedBefore = (await key.read()).dayUsed;
    for (const name of tableNames) await restoreTable(tableOfStack(name), restoredTables[name]);
    // The accident, and what went on meanwhile.
    await update(api, 0);
    await host.deleteStock(LOST);
    host.host.records.deleteApiKey((await revoked.read()).keyId);
    await revoked.delete();
    await restart({ assembly });
  }, 60_000);

  afterAll(async () => {
    await host.close();
    await engine.close();
    clock.release();
  });

  test('are what the outputs name, which the admin command goes by', () => {
    expect(host.host.outputs).toMatchObject({
      StockTableName: restoredTables.stock,
      KeysTableName: restoredTables.keys,
      PetsTableName: restoredTables.pets,
      OrdersTableName: restoredTables.orders,
    });
  });

  test('go on counting from what was used then', async () => {
    expect(await api.send('GET', '/pets/101')).toMatchObject({
      status: 200,
      rateLimit: { remaining: PER_DAY - usedBefore - 1 },
    });
  });

  test('give the stock as it was, in the whole list and by status', async () => {
    const sold = `{"petId":${LOST},"quantity":2,"status":"sold"}`;

    expect((await api.list()).text).toContain(`{"petId":${SPOILT},"quantity":7,"status":"available"}`);
    expect((await api.send('GET', '/inventory?status=sold')).text).toContain(sold);
  });

  test('know what was done before, and do it no second time', async () => {
    const again = await update(api, 7, onlyOnce);

    expect(again).toMatchObject({ status: 200, text: updated.text });
    expect(again.headers.get('ETag')).toBe(updated.headers.get('ETag'));
  });

  test('are updated, with the ETag of before, and without touching those they replace', async () => {
    expect(await update(api, 9, { 'If-Match': updated.headers.get('ETag') ?? '' })).toMatchObject({ status: 200 });

    expect(await itemOf(restoredTables.stock, SPOILT)).toMatchObject({ quantity: { value: '9' } });
    expect(await itemOf(tableOfStack('stock'), SPOILT)).toMatchObject({ quantity: { value: '0' } });
    expect(await itemOf(tableOfStack('stock'), LOST)).toBeUndefined();
  });

  test('have keys again that were revoked since, until a sync: API Gateway does not know them any more', async () => {
    const refused = { status: 401, error: { code: 'API_KEY_INVALID' } };
    const Key = { keyHash: hashApiKey(revoked.token) };
    const record = async () => (await host.documents.send(new GetCommand({ TableName: host.keysTable, Key }))).Item;
    expect(await record()).toMatchObject({ enabled: true });
    expect(await ApiClient.withKey(host.baseUrl, revoked.token).list()).toMatchObject(refused);

    await new AdminCommand(host.origin).output('keys', 'sync');

    expect(await record()).toMatchObject({ enabled: false, revoked: true });
    expect(await ApiClient.withKey(host.baseUrl, revoked.token).list()).toMatchObject(refused);
  });

  test('are left again by the next deploy without them, which finds the tables of the stack as they were', async () => {
    await restart();

    const { text, rateLimit } = await api.list();
    expect(text).toContain(`{"petId":${SPOILT},"quantity":0,"status":"available"}`);
    expect(text).not.toContain(String(LOST));
    // One for the accident, one for this list.
    expect(rateLimit.remaining).toBe(PER_DAY - usedBefore - 2);
  });
});
