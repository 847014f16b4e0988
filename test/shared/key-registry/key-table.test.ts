import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { describeChange, KeyHistory } from '../../../shared/key-registry/key-history.ts';
import { KeyTable } from '../../../shared/key-registry/key-table.ts';
import { type KeyChange, revocation } from '../../../shared/key-registry/record-changes.ts';
import {
  idOf,
  type KeyRecord,
  keyRecordSchema,
  type TokenRecord,
  NO_EXPIRY,
  UNTIL_RESUMED,
} from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { describeOnEachEngine, recordCalls, testClient } from '../../support/engines.ts';
import { aKey, createHistoryTable, createKeysTable } from '../../support/tables.ts';

const who = () => Promise.resolve('ann');

const timeOf = ({ changedAt = Number.NaN }: KeyRecord): string => new Date(changedAt).toISOString();

/** Changes a key, or makes it. */
async function changed(table: KeyTable, key: KeyRecord, change?: KeyChange, reason?: string): Promise<KeyRecord> {
  const record = await (change ? table.revise(key, change, { reason }) : table.add(key, { reason }));
  if (!record) throw new Error('The key was not changed');
  return record;
}

describeOnEachEngine('the keys table:', () => {
  let client: DynamoDBDocumentClient;
  let name: string;
  let table: KeyTable;

  beforeAll(async () => {
    client = testClient();
    name = await createKeysTable(client);
    table = new KeyTable(client, name);
  });

  afterAll(() => client.destroy());

  /** A key that is in the table at revision 1. */
  async function added(differences: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const key = { ...aKey(differences), revision: 1 };
    await table.add(key);
    return key;
  }

  const read = ({ recordId }: KeyRecord) => table.get(recordId);

  test('add writes a new key without undefined attributes, and never replaces one', async () => {
    const key = aKey({ keyId: undefined, expiresAtMs: undefined, unappliedSince: 7, revision: 1 });

    expect(await read(key)).toBeUndefined();
    expect(await table.add(key)).toMatchObject({ revision: 1 });
    const { keyId: _keyId, expiresAtMs: _expiresAtMs, ...defined } = key;
    expect(await read(key)).toStrictEqual(defined);
    expect(await table.add({ ...aKey(), recordId: key.recordId })).toBeUndefined();
  });

  test('get reports an unreadable record and its fault', async () => {
    const key = aKey({ keyId: 'broken' });
    await client.send(new PutCommand({ TableName: name, Item: { ...key, enabled: 'yes' } }));

    await expect(read(key)).rejects.toThrow(
      new RegExp(`^The key broken has an invalid record in the table ${name}: enabled: .*"yes"$`),
    );
  });

  describe('revise', () => {
    test('sets and removes attributes, and increments the revision', async () => {
      const { unappliedSince, ...key } = await added({ unappliedSince: 1, dayUsed: 7, suspendedUntil: 9 });
      const change = { name: 'b', plan: 'pro', perMinute: 2, perDay: 3, enabled: false, expiresAtMs: 5 } as const;

      await table.revise({ ...key, unappliedSince }, { ...change, unappliedSince: undefined });
      expect(await read(key)).toStrictEqual({ ...key, ...change, revision: 2 });
    });

    test('changes nothing if the revision has changed', async () => {
      const first = await added();
      await table.revise(first, {});

      expect(await table.revise(first, { name: 'another' })).toBeUndefined();
      expect(await read(first)).toEqual({ ...first, revision: 2 });
    });
  });

  describe('the history of a key', () => {
    let lost: string[];
    let history: KeyHistory;
    let recorded: KeyTable;

    const historyIn = (tableName: string) =>
      new KeyHistory({ client, tableName, who, onLost: (error) => lost.push(String(error)) });

    beforeEach(async () => {
      lost = [];
      history = historyIn(await createHistoryTable(client));
      recorded = new KeyTable(client, name, history);
    });
    afterEach(() => void jest.restoreAllMocks());
    const whatOf = async (key: KeyRecord, limit = 9) => (await history.of(key, limit)).map(({ what }) => what);

    test('records who made each change, when and why, except bookkeeping', async () => {
      const made = await changed(recorded, aKey());
      const applied = await changed(recorded, made, { unappliedSince: undefined, interimUntil: 7 });
      const key = await changed(recorded, applied, { name: 'b' }, 'asked by mail');

      const what = ['created on free', expect.stringMatching(/^token main\/.{4} added$/)];
      expect(await history.of(key, 9)).toEqual([
        { at: timeOf(key), who: 'ann', what: ['name acme → b'], reason: 'asked by mail' },
        { at: timeOf(made), who: 'ann', what, reason: null },
      ]);
      expect(applied.changedAt).toBe(made.changedAt);
      expect(await whatOf(key, 1)).toEqual([['name acme → b']]);
    });

    test('is kept for 400 days, and read consistently', async () => {
      const calls = recordCalls(client);
      const key = await changed(recorded, aKey());
      await history.of(key, 9);

      const ttl = Math.floor((Number(key.changedAt) + 400 * 86_400_000) / 1_000);
      expect(calls.slice(1)).toMatchObject([{ input: { Item: { ttl } } }, { input: { ConsistentRead: true } }]);
    });

    test('shows a change whose entry is missing, for 400 days', async () => {
      const interrupted = new KeyTable(client, name, historyIn('nowhere'));
      const first = await changed(interrupted, aKey());
      expect(await history.of(first, 9)).toEqual([{ at: timeOf(first), who: null, what: [], reason: null }]);
      expect({ read: await read(first), lost }).toEqual({
        read: first,
        lost: [expect.stringContaining('ResourceNotFoundException')],
      });
      const second = await changed(recorded, first, { name: 'b' });
      const last = await changed(interrupted, await changed(interrupted, second, { name: 'c' }), { name: 'd' });

      expect(await whatOf(last)).toEqual([[], ['name acme → b'], []]);
      jest.spyOn(Date, 'now').mockReturnValue(Number(first.changedAt) + 400 * 86_400_000);
      expect(await whatOf(last)).toEqual([[], ['name acme → b']]);
    });

    test('records an entry once if it is sent twice, and never a token', async () => {
      const token = generateToken();
      const key = await changed(recorded, aKey({ name: `for ${token}` }, token));
      const entry = history.entryOf(undefined, { ...key, name: 'other' });
      if (entry) await history.put(entry);
      const named = await changed(recorded, key, { name: 'b' });

      const rows = JSON.stringify(await history.of(named, 9));
      expect(rows).toContain('name for … → b');
      for (const secret of [token, ...Object.keys(key.tokens)]) expect(rows).not.toContain(secret);
      expect({ count: (await whatOf(named)).length, lost }).toEqual({ count: 2, lost: [] });
    });
  });

  test('all reads more than 1 MB, and skips and reports an unreadable record', async () => {
    const ownTable = await createKeysTable(client);
    const other = new KeyTable(client, ownTable);
    const ids = Array.from({ length: 25 }, (_, index) => `key-${index}`);
    for (const keyId of ids) await other.add(aKey({ keyId, name: 'x'.repeat(100_000) }));
    const bad = aKey();
    await client.send(new PutCommand({ TableName: ownTable, Item: { ...bad, keyId: 7 } }));
    const unreadable: string[] = [];
    const records = await other.all(({ message }) => unreadable.push(message));

    expect(records.map(idOf).toSorted()).toEqual(ids.toSorted());
    expect(unreadable).toEqual([
      expect.stringContaining(`The key with the record id ${bad.recordId} has an invalid record in the table`),
    ]);
  });
});

const NOW = Date.UTC(2026, 10, 23, 9);
const TOKEN = { until: NO_EXPIRY, access: 'full', label: 'main', last: 'ly02', since: 0 };
const tokens = (differences: Partial<TokenRecord> = {}) => ({ tokens: { hash: { ...TOKEN, ...differences } } });
const [open, suspended] = [aKey(), aKey({ enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true })];
const agreed = { plan: 'enterprise', perMinute: 900, perDay: 9_000 } as const;

test.each<[string[], Partial<KeyRecord>, Partial<KeyRecord>?]>([
  [['name acme → b'], { name: 'b' }],
  [['plan free → pro'], { plan: 'pro', ...plans.pro.limits }],
  [['plan free → enterprise (900 per minute, 9,000 per day)'], agreed],
  [['limits 60 per minute, 1,000 per day → 70 per minute, 1,000 per day'], { perMinute: 70 }],
  [['expires never → 2026-11-23 09:00 UTC'], { expiresAtMs: NOW }],
  [['disabled'], { enabled: false }],
  [['suspended until it is resumed'], { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }],
  [['suspended until 2026-11-23 09:01 UTC'], { suspendedUntil: NOW + 60_000, suspendedByAdmin: true }],
  [['resumed'], { suspendedUntil: 0, suspendedByAdmin: false, enabled: true }, suspended],
  [
    ['resumed (was suspended automatically until 2026-11-23 09:00 UTC)'],
    { suspendedUntil: 0 },
    { suspendedUntil: NOW + 1 },
  ],
  [[], { suspendedUntil: 0, suspendedByAdmin: false }, { suspendedUntil: NOW, suspendedByAdmin: true }],
  [['enabled'], { enabled: true }, { enabled: false }],
  [['revoked'], revocation(NOW), suspended],
  [[], revocation(NOW), { revoked: true, enabled: false }],
  [['token main/ly02 ends 2026-11-23 09:01 UTC'], tokens({ until: NOW + 60_000 }), tokens()],
  [['token main/ly02 ended'], tokens({ until: 0 }), tokens()],
  [['token main/ly02 removed'], { tokens: {} }, tokens()],
  [[], { tokens: {} }, tokens({ until: NOW })],
  [[], tokens(), tokens({ pending: true })],
  [
    ['token main/ly02 added, read-only', 'token main/ly02 ends 2026-11-23 09:01 UTC'],
    tokens({ access: 'read', until: NOW + 60_000 }),
    { tokens: {} },
  ],
])('a change is described as %j', (phrases, differences, before = {}) => {
  const key = { ...open, ...before };
  expect(describeChange(key, { ...key, ...differences }, NOW)).toEqual(phrases);
});

test('each attribute of a record is described, or is bookkeeping', () => {
  const other = { ...suspended, ...agreed, name: 'b', expiresAtMs: NOW, revoked: true, tokens: {} };
  const untold = Object.keys(keyRecordSchema.entries).filter(
    (name) =>
      describeChange(open, { ...open, ...Object.fromEntries([[name, Reflect.get(other, name)]]) }, NOW).length === 0,
  );

  const identity = ['recordId', 'keyId', 'createdAt', 'revision', 'changedAt'];
  const counters = ['currentMinute', 'minuteUsed', 'minuteRefused', 'dayUsed', 'dayRefused'];
  counters.push('priorMinute', 'priorUsed', 'priorRefused');
  // One half of a suspension alone means nothing.
  const halves = ['suspendedByAdmin', 'suspendedUntil'];
  const bookkeeping = [...identity, ...counters, ...halves, 'interimUntil', 'purgeAt', 'unappliedSince'];
  expect(untold.toSorted()).toEqual(bookkeeping.toSorted());
});
