import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { tableNames } from '../../infra/stages.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { AdminCommand } from '../support/admin-command.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { describeOnEachEngine } from '../support/engines.ts';
import { HostClock } from '../support/host-clock.ts';
import { IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import {
  copyTable,
  type NamesOfTables,
  restoredTables,
  synthesizeRestored,
  tablesOfStack,
} from '../support/restored-tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// On a machine that may be busy.
jest.setTimeout(60_000);

const assembly = temporaryFolder();
beforeAll(() => synthesizeRestored(assembly, restoredTables));

/** Pets that no other suite knows: DynamoDB Local is shared. */
const SPOILT = 970_001n;
const LOST = 970_002n;
const PER_DAY = 12;

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
describeOnEachEngine('Tables that were restored', () => {
  let clock: HostClock;
  let host: LocalHost;
  let tables: NamesOfTables;
  let key: IssuedKey;
  let revoked: IssuedKey;
  let api: ApiClient;
  /** Answers from before the accident. */
  let updated: Answer;
  let usedBefore: number;

  afterAll(async () => {
    await host.close();
    clock.release();
  });

  // Its own end comes after that of the host.
  const dataFolder = temporaryFolder();

  /** Starts the next host; its keys are looked up in the tables that it has. */
  async function restart(options: { readonly assembly?: string } = {}): Promise<void> {
    await host.close();
    host = await startHost(options);
    key = new IssuedKey(host, key.token);
    revoked = new IssuedKey(host, revoked.token);
    api = ApiClient.withKey(host.baseUrl, key.token);
  }

  function startHost(options: { readonly assembly?: string }): Promise<LocalHost> {
    const dynamodb = new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
    return LocalHost.start({ dynamodb, dataFolder, ...options });
  }

  const recordOf = async ({ token }: IssuedKey): Promise<Record<string, unknown> | undefined> => {
    const Key = { keyHash: hashApiKey(token) };
    return (await host.documents.send(new GetCommand({ TableName: host.keysTable, Key, ConsistentRead: true }))).Item;
  };
  const itemOf = (TableName: string, petId: bigint) =>
    host.documents.send(new GetCommand({ TableName, Key: { storeId: STORE_ID, petId }, ConsistentRead: true }));

  beforeAll(async () => {
    clock = new HostClock();
    host = await startHost({});
    tables = await tablesOfStack(host.documents);
    await host.putStock(
      { petId: SPOILT, quantity: 5, status: 'available' },
      { petId: LOST, quantity: 2, status: 'sold' },
    );
    key = await issueKey(host, { perMinute: 1_000, perDay: PER_DAY });
    revoked = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
    updated = await update(api, 7, onlyOnce);
    usedBefore = (await key.read()).dayUsed;

    for (const name of tableNames) await copyTable(host.documents, tables[name], restoredTables[name]);

    // The accident, and what went on meanwhile.
    await update(api, 0);
    await host.deleteStock(LOST);
    host.host.records.deleteApiKey((await revoked.read()).keyId);
    await revoked.delete();
    await restart({ assembly });
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
    const { status, rateLimit } = await api.send('GET', '/pets/101');

    expect({ status, rateLimit }).toMatchObject({ status: 200, rateLimit: { remaining: PER_DAY - usedBefore - 1 } });
  });

  test('give the stock as it was, in the whole list and by status', async () => {
    expect((await api.list()).text).toContain(`{"petId":${SPOILT},"quantity":7,"status":"available"}`);
    expect((await api.send('GET', '/inventory?status=sold')).text).toContain(
      `{"petId":${LOST},"quantity":2,"status":"sold"}`,
    );
    expect((await api.send('GET', '/store/orders?status=placed&limit=1')).text).toContain('"status":"placed"');
  });

  test('know what was done before, and do it no second time', async () => {
    const again = await update(api, 7, onlyOnce);

    expect(again).toMatchObject({ status: 200, text: updated.text });
    expect(again.headers.get('ETag')).toBe(updated.headers.get('ETag'));
  });

  test('are updated, with the ETag of before, and without touching those they replace', async () => {
    expect(await update(api, 9, { 'If-Match': updated.headers.get('ETag') ?? '' })).toMatchObject({ status: 200 });

    expect((await itemOf(restoredTables.stock, SPOILT)).Item).toMatchObject({ quantity: { value: '9' } });
    expect((await itemOf(tables.stock, SPOILT)).Item).toMatchObject({ quantity: { value: '0' } });
    expect((await itemOf(tables.stock, LOST)).Item).toBeUndefined();
  });

  test('keep to the limits exactly, under requests at once', async () => {
    const { dayUsed } = await key.read();
    const statuses = (await Promise.all(Array.from({ length: PER_DAY }, () => update(api, 9)))).map(
      ({ status }) => status,
    );

    expect(statuses.filter((status) => status === 200)).toHaveLength(PER_DAY - dayUsed);
    expect(statuses.filter((status) => status === 429)).toHaveLength(dayUsed);
    expect(await key.read()).toMatchObject({ dayUsed: PER_DAY });
  });

  test('have keys again that were revoked since, until a sync: API Gateway does not know them any more', async () => {
    const refused = { status: 401, error: { code: 'API_KEY_INVALID' } };
    expect(await recordOf(revoked)).toMatchObject({ enabled: true });
    expect(await ApiClient.withKey(host.baseUrl, revoked.token).list()).toMatchObject(refused);

    await new AdminCommand(host.origin).output('keys', 'sync');

    expect(await recordOf(revoked)).toMatchObject({ enabled: false, revoked: true });
    expect(await ApiClient.withKey(host.baseUrl, revoked.token).list()).toMatchObject(refused);
  });

  test('are left again by the next deploy without them, which finds the tables of the stack as they were', async () => {
    await restart();

    const { text, rateLimit } = await api.list();
    expect(text).toContain(`{"petId":${SPOILT},"quantity":0,"status":"available"}`);
    expect(text).not.toContain(String(LOST));
    // One for the accident, one for this list.
    expect(rateLimit.remaining).toBe(PER_DAY - usedBefore - 2);
    expect((await itemOf(restoredTables.stock, SPOILT)).Item).toMatchObject({ quantity: { value: '9' } });
    await host.documents.send(
      new DeleteCommand({ TableName: tables.stock, Key: { storeId: STORE_ID, petId: SPOILT } }),
    );
  });
});
