import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hashToken } from '../../shared/keys/token.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { apiStage } from '../support/gateway-records.ts';
import { KeyRegistry } from '../support/key-registry.ts';
import { parsed } from '../support/tables.ts';
import { metricsIn, recordLog } from '../support/request-lines.ts';

/** More than a line names. */
const MANY = 130;
const NAMED = 100;

const database = new EmbeddedDatabase();
const log = recordLog();

let registry: KeyRegistry;
let sync: () => Promise<void>;

beforeAll(async () => {
  registry = await KeyRegistry.start(database.client);
  Object.assign(process.env, {
    KEYS_TABLE: registry.keysTable,
    API_ID: apiStage.apiId,
    API_STAGE: apiStage.stage,
    AWS_ENDPOINT_URL_API_GATEWAY: registry.server.endpoint,
  });
  ({ handler: sync } = await import('../../functions/sync-keys.ts'));
});

afterAll(() => registry.close());

const named = (line: Record<string, unknown>, what: string): string[] => JSON.parse(String(line[what]));

test('A sync logs one line: it counts all that it did, names up to a hundred keys and problems, and no key', async () => {
  const secrets: string[] = [];
  const putKeys = (count: number, tags = {}) =>
    Array.from({ length: count }, () => {
      const value = `made-in-the-console-${secrets.length}`;
      secrets.push(value, parsed(value).recordId, hashToken(value));
      return registry.putKey({ value, tags }, 'free');
    });
  const ids = putKeys(MANY);
  await sync();
  const first = JSON.parse(log());
  const [renamed = '', offPlan = '', gone = ''] = ids;
  registry.update(renamed, { name: 'renamed' });
  registry.move(offPlan);
  registry.records.deleteApiKey(gone);
  putKeys(MANY, { expires: 'soon' });
  await sync();
  const second = JSON.parse(log().split('\n')[1] ?? '');

  const nothing = { KeysAdded: 0, KeysChanged: 0, KeysDisabled: 0, KeysRemoved: 0, SyncConflicts: 0, SyncProblems: 0 };
  expect(first).toMatchObject({ service: 'sync-keys', stack: 'test-Inventory', KeysInAccount: MANY, KeysUnchanged: 0 });
  expect(first).toMatchObject({ ...nothing, KeysAdded: MANY });
  expect(named(first, 'added')).toHaveLength(NAMED);
  expect(ids).toEqual(expect.arrayContaining(named(first, 'added')));
  expect(metricsIn(first)).toEqual([
    {
      namespace: 'PetStoreInventory',
      name: 'KeysAdded',
      dimensions: { service: 'sync-keys', stack: 'test-Inventory' },
      value: MANY,
    },
  ]);

  expect(second).toMatchObject({ ...nothing, KeysChanged: 1, KeysDisabled: 1, KeysRemoved: 1, SyncProblems: MANY });
  expect(second).not.toHaveProperty('added');
  expect([named(second, 'changed'), named(second, 'disabled'), named(second, 'removed')]).toEqual([
    [renamed],
    [offPlan],
    [gone],
  ]);
  expect(named(second, 'problems')).toHaveLength(NAMED);
  expect(secrets.filter((secret) => log().includes(secret))).toEqual([]);
});
