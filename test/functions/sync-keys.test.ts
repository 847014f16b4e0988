import { expect, jest, test } from '@jest/globals';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import type { SyncReport } from '../../shared/key-registry/mirror.ts';
import type { syncKeys } from '../../shared/key-registry/sync-keys.ts';
import { metricsIn, recordLog } from '../support/request-lines.ts';

const nothing: SyncReport = {
  added: [],
  changed: [],
  disabled: [],
  removed: [],
  conflicts: [],
  unchanged: [],
  problems: [],
  keysInAccount: 7,
};
const log = recordLog();
const sync = jest.fn<typeof syncKeys>();
jest.unstable_mockModule('../../shared/key-registry/sync-keys.ts', () => ({ syncKeys: sync }));
Object.assign(process.env, { KEYS_TABLE: 'keys', API_ID: 'api', API_STAGE: 'v1' });
const { handler } = await import('../../functions/sync-keys.ts');

test('A sync logs one line: it counts all that it did, names up to a hundred keys and problems, and measures what it counts', async () => {
  const many = Array.from({ length: 130 }, (_, index) => `key-${index}`);
  sync.mockResolvedValue({ ...nothing, added: many, removed: ['gone'], unchanged: ['a', 'b'], conflicts: ['c'] });
  await handler();
  const line: unknown = JSON.parse(log());

  expect(sync).toHaveBeenCalledWith(expect.anything(), expect.any(KeyTable), { apiId: 'api', stage: 'v1' });
  expect(line).toMatchObject({
    service: 'sync-keys',
    stack: 'test-Inventory',
    KeysInAccount: 7,
    KeysUnchanged: 2,
    KeysAdded: 130,
    KeysChanged: 0,
    KeysDisabled: 0,
    KeysRemoved: 1,
    SyncConflicts: 1,
    SyncProblems: 0,
    added: JSON.stringify(many.slice(0, 100)),
    removed: '["gone"]',
  });
  expect(line).not.toHaveProperty('changed');
  const dimensions = { service: 'sync-keys', stack: 'test-Inventory' };
  expect(metricsIn(line)).toEqual(
    ['KeysAdded 130', 'KeysRemoved 1', 'SyncConflicts 1'].map((metric) => {
      const [name, value] = metric.split(' ');
      return { namespace: 'PetStoreInventory', name, dimensions, value: Number(value) };
    }),
  );
});
