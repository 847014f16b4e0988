import type { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { SyncReport } from '../../../shared/key-registry/sync-report.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { anApiKey, aUsagePlan } from '../../support/gateway-records.ts';
import { aKey } from '../../support/key-records.ts';
import { KeyRegistry, usedCounters } from '../../support/key-registry.ts';

/** Keys on each of twelve usage plans: one is of three pages, one of two, one exactly of one. */
const KEYS_ON_PLANS = [1_001, 700, 500, 499, 100, 100, 50, 30, 10, 9, 1, 0];
const KEYS = 3_000;
/** Keys that are on no plan, and as many that are gone: each of these is asked for once more. */
const ENDED = 3;
const PAGE = 500;
/** By AWS's grant for an account. */
const MAX_PER_SECOND = 10;
const MEAN_PER_SECOND = 5;
/** Keys and plans of the host itself: four demo keys on plans of the catalogue, and two internal keys and plans. */
const OWN_KEYS = 6;
const CATALOGUE_PLANS = 4;

/** What becomes of a record in the sync. */
type Fate = 'added' | 'changed' | 'unchanged';
const fateOf = (index: number): Fate => (index % 10 < 2 ? 'added' : index % 10 < 4 ? 'changed' : 'unchanged');

let registry: KeyRegistry;
/** What is to be in the table after the sync. */
const expected = new Map<string, object>();
const ids: Record<Fate | 'disabled' | 'removed', string[]> = {
  added: [],
  changed: [],
  unchanged: [],
  disabled: [],
  removed: [],
};

beforeAll(async () => {
  registry = await KeyRegistry.start();
  const before: KeyRecord[] = [];
  const planOfKey = KEYS_ON_PLANS.flatMap((count, plan) => Array.from({ length: count }, () => plan));
  for (const plan of KEYS_ON_PLANS.keys()) putPlan(plan);
  for (const [index, plan] of planOfKey.entries()) before.push(...putKey(index, plan));
  before.push(...putKeysThatEnd());
  await putRecords(before);
}, 60_000);

afterAll(() => registry.close());

const limitsOf = (plan: number) => ({ perMinute: 10 + plan, perDay: 100 + plan });

function putPlan(plan: number): void {
  const { perMinute, perDay } = limitsOf(plan);
  const tags = { 'per-minute': String(perMinute), 'per-day': String(perDay) };
  registry.host.host.records.putUsagePlan(aUsagePlan({ id: `plan-${plan}`, apiStages: [registry.apiStage], tags }));
}

/** Puts a key on its plan. @returns its record before the sync, where it has one */
function putKey(index: number, plan: number): KeyRecord[] {
  const { records } = registry.host.host;
  const id = `key-${index}`;
  const value = hashApiKey(generateApiKey());
  const apiKey = anApiKey({ id, value, name: `customer ${index}` });
  records.putApiKey(apiKey);
  records.putOnPlan(`plan-${plan}`, id);
  const record = aKey({
    keyId: id,
    lineage: id,
    keyHash: value,
    name: `customer ${index}`,
    plan: 'enterprise',
    ...limitsOf(plan),
    createdAt: apiKey.createdAt,
  });
  const fate = fateOf(index);
  ids[fate].push(id);
  if (fate === 'added') {
    expected.set(value, { ...record, revision: 1 });
    return [];
  }
  const used = { ...record, ...usedCounters, revision: 4 };
  expected.set(value, { ...used, revision: fate === 'changed' ? 5 : 4 });
  return [fate === 'changed' ? { ...used, perMinute: 9 } : used];
}

/** Keys that are on no plan, and keys that are gone. @returns their records before the sync */
function putKeysThatEnd(): KeyRecord[] {
  const ends = ['disabled', 'removed'] as const;
  return ends.flatMap((end) =>
    Array.from({ length: ENDED }, (_, index) => {
      const record = aKey({ keyId: `${end}-${index}`, ...usedCounters, revision: 4 });
      const { keyId: id, keyHash } = record;
      ids[end].push(id);
      if (end === 'disabled') {
        registry.host.host.records.putApiKey(anApiKey({ id, value: keyHash, name: 'on no plan' }));
        expected.set(keyHash, { ...record, enabled: false, revision: 5 });
      } else {
        expected.set(keyHash, { ...record, enabled: false, revoked: true, purgeAt: expect.any(Number), revision: 5 });
      }
      return record;
    }),
  );
}

async function putRecords(records: readonly KeyRecord[]): Promise<void> {
  const { documents, keysTable } = registry.host;
  for (let start = 0; start < records.length; start += 25) {
    const puts = records.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await documents.send(new BatchWriteCommand({ RequestItems: { [keysTable]: puts } }));
  }
}

/** One sync: its calls, when they arrived, and how often it has written. */
async function measuredSync(
  client: APIGatewayClient,
): Promise<{ report: SyncReport; calls: string[]; times: number[]; writes: number }> {
  const calls: string[] = [];
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        calls.push(commandName ?? '');
        return next(args);
      },
    { step: 'initialize' },
  );
  let writes = 0;
  registry.host.documents.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName !== 'ScanCommand') writes += 1;
        return next(args);
      },
    { step: 'initialize', name: 'counted' },
  );
  const { length: before } = registry.server.arrivals;
  const report = await syncKeys(client, registry.table, registry.apiStage);
  registry.host.documents.middlewareStack.remove('counted');
  return { report, calls, times: registry.server.arrivals.slice(before), writes };
}

/** The most calls that arrived within a second. */
const mostInASecond = (times: readonly number[]) =>
  Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length));

const pagesOf = (items: number) => Math.max(1, Math.ceil(items / PAGE));

describe('a sync of 3,000 keys on 12 usage plans', () => {
  let first: Awaited<ReturnType<typeof measuredSync>>;

  beforeAll(async () => {
    first = await measuredSync(registry.pacedClient());
  }, 60_000);

  test('brings every record up to date, and says what it did to which', async () => {
    const { added, changed, disabled, removed, unchanged, conflicts, problems } = first.report;

    expect(ids.added.length + ids.changed.length + ids.unchanged.length).toBe(KEYS);
    expect(added.toSorted()).toEqual(ids.added.toSorted());
    expect(changed.toSorted()).toEqual(ids.changed.toSorted());
    expect(disabled.toSorted()).toEqual(ids.disabled.toSorted());
    expect(removed.toSorted()).toEqual(ids.removed.toSorted());
    expect(unchanged).toHaveLength(ids.unchanged.length + 4);
    expect({ conflicts, problems }).toEqual({ conflicts: [], problems: [] });
    expect(new Map((await registry.records()).map((record) => [record.keyHash, record]))).toEqual(expected);
  });

  test('writes as many times as there is a change', () => {
    const changes = [ids.added, ids.changed, ids.disabled, ids.removed].flat();

    expect(first.writes).toBe(changes.length);
  });

  test('reads pages of 500: one of plans, those of the keys on each, those of all keys; and each that is closed once more', () => {
    const count = (command: string) => first.calls.filter((call) => call === command).length;
    const allKeys = KEYS + ids.disabled.length + OWN_KEYS;

    expect({
      plans: count('GetUsagePlansCommand'),
      ended: count('GetApiKeyCommand'),
      onPlans: count('GetUsagePlanKeysCommand'),
      keys: count('GetApiKeysCommand'),
    }).toEqual({
      plans: 1 + ENDED,
      ended: ENDED,
      onPlans: CATALOGUE_PLANS + KEYS_ON_PLANS.reduce((sum, keys) => sum + pagesOf(keys), 0),
      keys: pagesOf(allKeys),
    });
    expect(first.times).toHaveLength(first.calls.length);
  });

  test('makes no more than 10 calls in any second, and some 5 a second in the long run', () => {
    const [start = 0, end = 0] = [first.times[0], first.times.at(-1)];
    const most = MAX_PER_SECOND + (MEAN_PER_SECOND * (end - start)) / 1_000;

    expect(mostInASecond(first.times)).toBeLessThanOrEqual(MAX_PER_SECOND);
    expect(first.times.length).toBeLessThanOrEqual(Math.ceil(most));
  });

  test('writes nothing the second time', async () => {
    const { report, writes } = await measuredSync(registry.client());
    const { unchanged, keysInAccount: _, ...did } = report;

    expect(did).toEqual({ added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] });
    expect(unchanged).toHaveLength(KEYS + ids.disabled.length + 4);
    expect(writes).toBe(0);
  });
});
