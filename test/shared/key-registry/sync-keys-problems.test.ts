import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { shortOfKeys } from '../../../shared/key-registry/gateway-state.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import type { UsagePlan } from '../../../infra/local/account/records.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

const database = new EmbeddedDatabase();
let registry: KeyRegistry;

beforeEach(async () => {
  registry = await KeyRegistry.start(database.client);
});

afterEach(() => registry.close());

const read = ({ recordId }: KeyRecord) => registry.table.get(recordId);

describe('many keys that seem to be gone', () => {
  const losses: readonly [string, (id: string) => void][] = [
    ['off their plan', (id) => registry.move(id)],
    ['from API Gateway', (id) => registry.records.deleteApiKey(id)],
  ];

  test.each(losses)('%s are closed up to ten, and beyond by an admin only', async (_, lose) => {
    const ids = Array.from({ length: 21 }, () => registry.putKey({}, 'free'));
    await registry.sync();
    for (const id of ids.slice(0, 10)) lose(id);
    const first = await registry.sync();
    expect([...first.disabled, ...first.removed].toSorted()).toEqual(ids.slice(0, 10).toSorted());

    for (const id of ids.slice(10)) lose(id);
    const problems = [expect.stringMatching(/^11 of 11 open keys .* keys sync --force/)];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    const { disabled, removed } = await registry.sync(undefined, { force: true });
    expect([...disabled, ...removed].toSorted()).toEqual(ids.slice(10).toSorted());
  });
});

describe('what is not in order is one problem, and leaves the last good state', () => {
  test('a record that cannot be read', async () => {
    const [key, other] = [await registry.usedKey(), await registry.usedKey()];
    const Item = { ...key, enabled: 'yes' };
    await registry.documents.send(new PutCommand({ TableName: registry.keysTable, Item }));
    registry.update(other.keyId, { name: 'renamed' });

    const problem = expect.stringMatching(new RegExp(`^The key ${key.keyId} has a record in the table .* enabled: `));
    expect(await registry.sync()).toMatchObject({ ...nothing, changed: [other.keyId], problems: [problem] });
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an end', { expires: 'soon' }, /tag expires/],
    ['half of agreed limits', { 'per-day': '' }, /needs both tags per-minute and per-day, as numbers from 1/],
  ])('a tag with a typo, but a key that is disabled is closed: %s', async (_, tags, problem) => {
    const key = await registry.usedKey({ tags: { 'per-minute': '50', 'per-day': '500' } }, 'enterprise');
    registry.update(key.keyId, { tags });

    expect(await registry.sync()).toMatchObject({ ...nothing, problems: [expect.stringMatching(problem)] });
    expect(await read(key)).toEqual(key);
    registry.update(key.keyId, { enabled: false });
    expect((await registry.sync()).disabled).toEqual([key.keyId]);
  });

  test('a plan whose tag cannot be read, but a key that is disabled is closed', async () => {
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'pro' } }));
    const before = await registry.usedKey({}, 'own');
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'por' } }));
    registry.update(before.keyId, { name: 'new' });
    registry.putKey({}, 'own');
    const problems = [
      'The usage plan Acme is none of this service: tag it with plan, one of free, pro, business, enterprise.',
    ];

    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await registry.all()).toEqual([before]);
    registry.update(before.keyId, { enabled: false });
    expect(await registry.sync()).toMatchObject({ ...nothing, problems, disabled: [before.keyId] });
  });

  test('a stage that lacks a usage plan of the catalogue', async () => {
    const key = await registry.usedKey({}, 'pro');
    registry.records.putUsagePlan(aUsagePlan({ id: 'pro', tags: {} }));
    registry.move(key.keyId);

    expect(await registry.sync()).toMatchObject({
      ...nothing,
      problems: [expect.stringContaining('is none of this service'), 'The stage has no usage plan tagged plan=pro.'],
    });
    expect(await read(key)).toEqual(key);
  });

  test('a key of the admin command without a record, whose tokens nothing brings back', async () => {
    const key = await registry.issuedKey();
    await registry.delete(key);

    const problems = [`The key ${key.keyId} has no record, and none of its tokens works: rotate it, or revoke it.`];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await registry.all()).toEqual([]);
  });

  test.each([
    ['a token', generateToken()],
    ['the beginning of one', 'psk_made-in-the-console-by-hand'],
    ['a hash', 'a1'.repeat(32)],
  ])('a key that was made with %s as its value', async (_, value) => {
    const ids = [
      registry.putKey({ id: 'a', value }, 'free'),
      registry.putKey({ id: 'b', value: `psk_${'0'.repeat(46)}` }, 'pro'),
    ];

    const problems = ids.map((id) =>
      expect.stringMatching(new RegExp(`^The key ${id} has a value that no key can have`)),
    );
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await registry.all()).toEqual([]);
  });

  test('such a key on no plan of a customer is none of the service', async () => {
    registry.putKey({ value: generateToken() });

    expect(await registry.sync()).toMatchObject(nothing);
  });

  test('a key on the Enterprise plan without limits of its own', async () => {
    const keyId = registry.putKey({}, 'enterprise');

    const problems = [`The key ${keyId} is on the Enterprise plan without agreed limits: tag it.`];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await registry.all()).toEqual([]);
  });

  test('a key that was suspended, and is enabled in API Gateway', async () => {
    const key = await registry.usedKey();
    const suspended = await registry.table.revise(key, { enabled: false, suspendedUntil: NEVER });

    const problems = [expect.stringContaining(`${key.keyId} is suspended, but enabled`)];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await read(key)).toEqual(suspended);
  });
});

test.each<[string, Partial<UsagePlan>, RegExp]>([
  ['a quota', { quota: { limit: 1_000_000 } }, /^The usage plan Acme has a quota/],
  ['a throttle below their limits', { throttle: { rateLimit: 9, burstLimit: 100 } }, /10 requests a second.* lets 9/],
])(
  'The usage plan of keys with limits of their own has %s: a problem, and they are taken over',
  async (_, guard, problem) => {
    registry.records.putUsagePlan(
      aUsagePlan({ id: 'enterprise', name: 'Acme', tags: { plan: 'enterprise' }, ...guard }),
    );
    const key = registry.putKey({ tags: { 'per-minute': '600', 'per-day': '5000' } }, 'enterprise');
    registry.putKey({ tags: { 'per-minute': '540', 'per-day': '5000' } }, 'enterprise');

    const { added, problems } = await registry.sync();
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(added).toHaveLength(2);
    expect(added).toContain(key);
  },
);

test('An account that has nine tenths of the API keys that it may have is a problem', () => {
  expect(shortOfKeys(8_999)).toEqual([]);
  expect(shortOfKeys(9_000)).toEqual(['The account has 9000 of the 10000 API keys that it may have in the region.']);
});
