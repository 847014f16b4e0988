import { expect, jest, test } from '@jest/globals';
import { KeyUsage } from '../../shared/key-registry/key-usage.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import type { syncKeys } from '../../shared/key-registry/key-sync.ts';
import { metricsIn, recordLog } from '../support/request-lines.ts';

const log = recordLog();
const sync = jest.fn<typeof syncKeys>();
jest.unstable_mockModule('../../shared/key-registry/key-sync.ts', () => ({ syncKeys: sync }));
const tables = { KEYS_TABLE: 'keys', HISTORY_TABLE: 'history', USAGE_TABLE: 'usage' };
Object.assign(process.env, { ...tables, API_ID: 'api', API_STAGE: 'v1' });
const { handler } = await import('../../functions/sync-keys.ts');

test('a sync logs one line with its counts, at most 100 names each, and its two metrics', async () => {
  const many = Array.from({ length: 130 }, (_, index) => `key-${index}`);
  sync.mockResolvedValue({
    added: many,
    changed: [],
    closed: ['gone'],
    applied: [],
    opened: ['again'],
    left: ['c'],
    unchanged: ['a', 'b'],
    problems: ['p', 'q'],
    keysInAccount: 7,
  });
  await handler();
  const line: unknown = JSON.parse(log());

  const [registry, usage] = sync.mock.lastCall ?? [];
  expect(usage).toBeInstanceOf(KeyUsage);
  expect(registry?.keyTable).toBeInstanceOf(KeyTable);
  expect(registry?.apiStage).toEqual({ apiId: 'api', stage: 'v1' });
  expect(line).toMatchObject({
    service: 'sync-keys',
    stack: 'test-Inventory',
    KeysInAccount: 7,
    KeysUnchanged: 2,
    KeysAdded: 130,
    KeysChanged: 0,
    KeysClosed: 1,
    KeysApplied: 0,
    KeysOpened: 1,
    KeysLeft: 1,
    SyncProblems: 2,
    added: JSON.stringify(many.slice(0, 100)),
    closed: '["gone"]',
    opened: '["again"]',
  });
  expect(line).not.toHaveProperty('changed');
  const dimensions = { service: 'sync-keys', stack: 'test-Inventory' };
  const metric = { namespace: 'PetStoreInventory', dimensions };
  expect(metricsIn(line)).toEqual([
    { ...metric, name: 'SyncProblems', value: 2 },
    { ...metric, name: 'KeysOpened', value: 1 },
  ]);
});
