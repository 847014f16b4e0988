import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { UsagePlan } from '../../../infra/local/account/records.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { aUsagePlan } from '../../support/gateway-records.ts';
import { did, KeyRegistry } from '../../support/key-registry.ts';

let registry: KeyRegistry;

beforeEach(() => {
  registry = new KeyRegistry();
});

afterEach(() => registry.close());

describe('many keys that seem to be gone', () => {
  test.each<[string, (id: string) => void]>([
    ['off their plan', (id) => registry.move(id)],
    ['from API Gateway', (id) => registry.records.deleteApiKey(id)],
  ])('%s are closed up to ten, and beyond by an admin only', async (_, lose) => {
    const ids = Array.from({ length: 21 }, () => registry.putKey({}, 'free'));
    await registry.sync();
    for (const id of ids.slice(0, 10)) lose(id);
    const first = await registry.sync();
    expect([...first.disabled, ...first.removed].toSorted()).toEqual(ids.slice(0, 10).toSorted());

    for (const id of ids.slice(10)) lose(id);
    const problems = [expect.stringMatching(/^11 of 11 open keys .* keys sync --force/)];
    expect(await registry.did()).toEqual(did({ problems }));
    const { disabled, removed } = await registry.sync({ force: true });
    expect([...disabled, ...removed].toSorted()).toEqual(ids.slice(10).toSorted());
  });
});

/** ISO 8601. */
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

describe('what is not in order is one problem, and leaves the last good state', () => {
  test.each<[string, object, string]>([
    ['that is broken', { enabled: 'yes' }, 'enabled: Invalid'],
    ['with a plan of a later release', { plan: 'gold' }, 'plan: This version does not know the plan "gold"'],
  ])('a record %s', async (_, state, reason) => {
    const [key, other] = [await registry.usedKey(), await registry.usedKey()];
    await registry.put({ ...key, ...state });
    registry.update(key.keyId, { name: 'renamed' });
    registry.update(other.keyId, { name: 'renamed' });

    const problem = expect.stringMatching(new RegExp(`^The key ${key.keyId} has a record in the table .* ${reason}`));
    expect(await registry.did()).toEqual(did({ changed: [other.keyId], problems: [problem] }));
    // It is as it was.
    expect(await registry.did()).toEqual(did({ problems: [problem] }));
  });

  test('a tag with a typo, but a key that is disabled is closed', async () => {
    const key = await registry.usedKey();
    registry.update(key.keyId, { tags: { expires: 'soon' } });

    expect(await registry.did()).toEqual(did({ problems: [expect.stringMatching(/tag expires/)] }));
    expect(await registry.read(key)).toEqual(key);
    registry.update(key.keyId, { enabled: false });
    expect((await registry.sync()).disabled).toEqual([key.keyId]);
  });

  test('a plan whose tag cannot be read, but a key that is disabled is closed', async () => {
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'pro' } }));
    const before = await registry.usedKey({}, 'own');
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'por' } }));
    registry.update(before.keyId, { name: 'new' });
    registry.putKey({}, 'own');
    const problems = [expect.stringContaining('The usage plan Acme is none of this service: tag it with plan')];

    expect(await registry.did()).toEqual(did({ problems }));
    expect(await registry.keys()).toEqual([before]);
    registry.update(before.keyId, { enabled: false });
    expect(await registry.did()).toEqual(did({ problems, disabled: [before.keyId] }));
  });

  test('a stage that lacks a usage plan of the catalogue', async () => {
    const key = await registry.usedKey({}, 'pro');
    registry.records.putUsagePlan(aUsagePlan({ id: 'pro', tags: {} }));
    registry.move(key.keyId);

    const problems = [
      expect.stringContaining('is none of this service'),
      'The stage has no usage plan tagged plan=pro.',
    ];
    expect(await registry.did()).toEqual(did({ problems }));
    expect(await registry.read(key)).toEqual(key);
  });

  test('a key of the admin command without a record, whose tokens nothing brings back', async () => {
    const key = await registry.issuedKey();
    await registry.delete(key);

    const problems = [`The key ${key.keyId} has no record, and none of its tokens works: rotate it, or revoke it.`];
    expect(await registry.did()).toEqual(did({ problems }));
    expect(await registry.keys()).toEqual([]);
  });

  test('a key that was suspended, and is enabled in API Gateway', async () => {
    const key = await registry.usedKey();
    const suspended = await registry.table.revise(key, { enabled: false, suspendedUntil: NEVER });

    const problems = [expect.stringContaining(`${key.keyId} is suspended, but enabled`)];
    expect(await registry.did()).toEqual(did({ problems }));
    expect(await registry.read(key)).toEqual(suspended);
  });

  test.each(['without a record', 'with one'])('a key that was left unfinished: %s', async (which) => {
    const key = await registry.issuedKey();
    if (which === 'without a record') await registry.delete(key);
    registry.update(key.keyId, { tags: { unfinished: minutesAgo(9), expires: '2031-01-01' } });
    expect(await registry.did()).toEqual(did());

    const since = minutesAgo(11);
    registry.update(key.keyId, { tags: { unfinished: since } });
    const problem = `The key ${key.keyId} was left unfinished at ${since}: create it again, which clears it away, or delete it there.`;
    expect(await registry.did()).toEqual(did({ problems: [problem] }));
    expect(await registry.read(key)).toEqual(which === 'with one' ? key : undefined);
  });
});

test.each<[string, Partial<UsagePlan>, RegExp]>([
  ['a quota', { quota: { limit: 1_000_000 } }, /^The usage plan Acme has a quota/],
  ['a throttle below their limits', { throttle: { rateLimit: 9, burstLimit: 100 } }, /10 requests a second.* lets 9/],
])(
  'The usage plan of keys with agreed limits has %s: a problem, and they are taken over',
  async (_, guard, problem) => {
    const plan = { id: 'enterprise', name: 'Acme', tags: { plan: 'enterprise' }, ...guard };
    registry.records.putUsagePlan(aUsagePlan(plan));
    const ids = ['600', '540'].map((perMinute) =>
      registry.putKey({ tags: { 'per-minute': perMinute, 'per-day': '5000' } }, 'enterprise'),
    );

    const { added, problems } = await registry.sync();
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(added.toSorted()).toEqual(ids.toSorted());
  },
);

test('A usage plan that is deleted while it is read has no keys on it', async () => {
  registry.records.putUsagePlan(aUsagePlan({ id: 'own', tags: { plan: 'pro' } }));
  const { keyId } = await registry.usedKey({}, 'own');
  registry.around('GetUsagePlanKeysCommand', () => registry.records.plans.delete('own'));

  expect(await registry.did()).toEqual(did({ disabled: [keyId] }));
});

test('A list without the value of a key ends the sync', async () => {
  const { keyId } = await registry.usedKey();
  registry.update(keyId, { value: '' });

  await expect(registry.sync()).rejects.toThrow(`API Gateway did not send the value of the key ${keyId}`);
});

test('A suspension stays, whatever else is taken over, and so does a revocation', async () => {
  const closed = { enabled: false, name: 'new' };
  const suspended = await registry.issuedKey({ enabled: false, suspendedUntil: NEVER }, closed);
  const revoked = await registry.issuedKey({ enabled: false, revoked: true, purgeAt: 9_999_999_999 }, closed);

  const problem = `The key ${revoked.keyId} was revoked, but is still in API Gateway: revoke it again.`;
  expect(await registry.did()).toEqual(did({ changed: [suspended.keyId], problems: [problem] }));
  expect(await registry.read(suspended)).toEqual({ ...suspended, name: 'new', revision: 2 });
  expect(await registry.read(revoked)).toEqual(revoked);
});

/** To the millisecond, as the commands write it. */
const ENDED_AT = Date.UTC(2026, 10, 22, 3, 4, 5, 678);
const tagOf = (time: number) => ({ 'tokens-ended': new Date(time).toISOString() });
const problemOf = ({ keyId }: KeyRecord): string =>
  `The key ${keyId} was restored with tokens that had been ended, and is closed: rotate it.`;

describe('a record that is older than the last ending of a token', () => {
  test.each<[string, Partial<KeyRecord>]>([
    ['by a millisecond', { tokensEndedAt: ENDED_AT - 1 }],
    ['as it has none', {}],
    ['and in the middle of a move', { busy: { by: 'move', since: Date.now(), id: 'aB3x' } }],
  ])('%s is closed by a mark that no sync takes away', async (_, differences) => {
    const { busy: _busy, ...before } = await registry.issuedKey(differences, { tags: tagOf(ENDED_AT) });
    const problems = [problemOf(before)];

    expect(await registry.did()).toEqual(did({ disabled: [before.keyId], problems }));
    const closed = { ...before, enabled: false, restored: true, revision: before.revision + 1 };
    expect(await registry.read(before)).toStrictEqual(closed);
    // Tokens and counters are as they were; and so it stays, without the tag too.
    registry.update(before.keyId, { tags: { 'tokens-ended': undefined } });
    expect(await registry.did({ mendTag: () => Promise.resolve() })).toEqual(did({ problems }));
    expect(await registry.read(before)).toStrictEqual(closed);
  });

  test('is closed on no plan too, and goes on being mirrored', async () => {
    const key = await registry.issuedKey({}, { tags: tagOf(ENDED_AT) });
    registry.move(key.keyId);
    expect(await registry.did()).toEqual(did({ disabled: [key.keyId], problems: [problemOf(key)] }));
    registry.move(key.keyId, 'pro');
    registry.update(key.keyId, { name: 'new' });

    expect(await registry.did()).toEqual(did({ changed: [key.keyId], problems: [problemOf(key)] }));
    expect(await registry.read(key)).toMatchObject({ enabled: false, restored: true, plan: 'pro', name: 'new' });
  });

  test('is left to the command that has just ended a token: its record is another by now', async () => {
    const key = await registry.issuedKey();
    // The sync has read the table, and no key of API Gateway.
    registry.around('GetUsagePlansCommand', async () => {
      await registry.table.revise(key, { tokensEndedAt: ENDED_AT });
      registry.update(key.keyId, { tags: tagOf(ENDED_AT) });
    });

    expect(await registry.sync()).toMatchObject(did({ unchanged: [key.keyId] }));
    expect(await registry.read(key)).toEqual({ ...key, tokensEndedAt: ENDED_AT, revision: 2 });
  });

  test('is not one of a key from the console, whose only token is its value: the tag says nothing of it', async () => {
    const key = await registry.usedKey();
    registry.update(key.keyId, { tags: tagOf(ENDED_AT) });

    expect(await registry.did()).toEqual(did());
    expect(await registry.read(key)).toEqual(key);
  });
});

describe('a record that is as old as the tag, or newer, stays', () => {
  test.each<[string, Partial<KeyRecord>, Record<string, string>]>([
    ['with no token ended, and a tag that is no time', {}, { 'tokens-ended': 'yesterday' }],
    ['with both of one time', { tokensEndedAt: ENDED_AT }, tagOf(ENDED_AT)],
    ['suspended by an admin', { tokensEndedAt: ENDED_AT, enabled: false, suspendedUntil: NEVER }, tagOf(ENDED_AT)],
  ])('%s', async (_, differences, tags) => {
    const key = await registry.issuedKey(differences, { tags, enabled: differences.enabled ?? true });

    expect(await registry.did()).toEqual(did());
    expect(await registry.read(key)).toEqual(key);
  });

  test('and its tag is mended by an admin where it is older, and reported otherwise', async () => {
    const key = await registry.issuedKey({ tokensEndedAt: ENDED_AT }, { tags: tagOf(ENDED_AT - 1) });
    const problem = `The key ${key.keyId} has an old tag tokens-ended: run npm run admin -- keys sync.`;
    expect(await registry.did()).toEqual(did({ problems: [problem] }));

    const mended: unknown[] = [];
    const mendTag = async (...of: [string, number]) => void mended.push(of);
    expect(await registry.did({ mendTag })).toEqual(did());
    expect(mended).toEqual([[key.keyId, ENDED_AT]]);
    expect(await registry.read(key)).toEqual(key);
  });
});
