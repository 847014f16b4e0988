import { TooManyRequestsException } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Inputs } from '../../../infra/admin/keys/inputs.ts';
import { keyActions } from '../../../infra/admin/keys/key-actions.ts';
import { keyView, listKeys } from '../../../infra/admin/keys/key-view.ts';
import type { Target } from '../../../infra/admin/service/target.ts';
import { UNREAD } from '../../../shared/key-registry/reconcile.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { idOf, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import {
  runAction,
  type CommandName,
  commands,
  InProcessTarget,
  type Interception,
  issueSubject,
  NAME,
  type Start,
} from '../../support/in-process-target.ts';
import { aKey, parsed } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:37Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const world = new InProcessTarget();
const { records } = world;
let messages: string[];
const notices = { ...world.target.notices, incomplete: (message: string) => void messages.push(message) };
const target: Target = { ...world.target, notices };

/** What happens once, right before API Gateway gets a command. */
const before = new Map<string, () => unknown>();
target.gateway.middlewareStack.add(
  (next, { commandName = '' }) =>
    async (args) => {
      const act = before.get(commandName);
      before.delete(commandName);
      await act?.();
      return next(args);
    },
  { step: 'initialize' },
);

let now: number;
beforeAll(() => void jest.spyOn(Date, 'now').mockImplementation(() => now));
afterAll(() => world.close());
beforeEach(() => {
  now = NOW;
  messages = [];
  world.reset();
  before.clear();
});

const run = (name: CommandName) => commands[name](target, 'subject');
async function history() {
  const [record] = await world.keys();
  return record && target.history.of(record, 9);
}
const editTo = (change: Partial<Inputs>) => runAction(target, 'edit', 'subject', change);
const move = () => commands['move to Pro'](target, 'subject');
const plansOf = (id: string) => records.plansOfKey(id).map((plan) => plan.id);
const issueChanged = (differences: Partial<KeyRecord>) => issueSubject(world, 'open', differences);

/** Syncs once what was interrupted may be applied, and once it may be cleared. */
async function syncLater(): Promise<void> {
  for (const minutes of [1, 3]) {
    now += minutes * MINUTE_MS;
    await syncKeys(target);
  }
}

test('a command on a restored key reports what its sync unblocks', async () => {
  await issueChanged({ unappliedSince: NOW - MINUTE_MS });
  const subject = records.apiKey('subject') ?? anApiKey();
  records.putApiKey({ ...subject, enabled: false });
  await target.keyTable.add(aKey({ keyId: undefined, name: 'restored', unappliedSince: UNREAD }));

  await commands['move to Pro'](target, 'restored');
  expect(messages[0]).toContain('keys suspend subject');
});

describe('a command', () => {
  test('leaves nothing to a sync if API Gateway applies it', async () => {
    await issueSubject(world, 'open');

    expect(await move()).toMatchObject({ plan: 'pro', applied: true });
    expect(await world.keys()).toMatchObject([{ interimUntil: NOW + 5 * MINUTE_MS }]);
    expect({ plans: plansOf('subject'), messages }).toEqual({ plans: ['pro'], messages: [] });
  });

  test.each<[CommandName, string, object]>([
    ['move to Pro', 'DeleteUsagePlanKeyCommand', { plan: 'pro' }],
    ['move to Pro', 'CreateUsagePlanKeyCommand', { plan: 'pro' }],
    ['move to Enterprise', 'TagResourceCommand', { plan: 'enterprise', perMinute: 800 }],
    ['suspend', 'UpdateApiKeyCommand', { enabled: false, suspendedUntil: UNTIL_RESUMED }],
    ['revoke', 'DeleteApiKeyCommand', { enabled: false, revoked: true }],
  ])('takes effect if API Gateway fails, and a sync completes it: %s at %s', async (name, call, change) => {
    await issueSubject(world, 'open');
    before.set(call, () => Promise.reject(new TooManyRequestsException({ message: 'Too many', $metadata: {} })));
    await run(name);

    expect(messages).toEqual([
      expect.stringMatching(/^The (change is in effect|key is revoked).*\(Too many\).* sync /),
    ]);
    expect(await world.keys()).toMatchObject([change]);
    expect((await listKeys(target)).map(({ applied }) => applied)).toEqual(name === 'revoke' ? [] : [false]);
    await syncLater();
    const [record] = await world.keys();
    expect(record).toMatchObject(change);
    expect(record).not.toHaveProperty('unappliedSince');
    const { enabled, plan } = record ?? {};
    const inGateway = records.apiKeys.map((key) => ({ enabled: key.enabled, plans: plansOf(key.id) }));
    expect(inGateway).toEqual(name === 'revoke' ? [] : [{ enabled, plans: [plan] }]);
  });

  test('starts no call more than a minute after its write', async () => {
    await issueSubject(world, 'open');
    before.set('DeleteUsagePlanKeyCommand', () => (now += MINUTE_MS));

    expect(await move()).toMatchObject({ plan: 'pro', applied: false });
    expect(messages).toEqual([expect.stringContaining('(It took more than a minute)')]);
    expect(plansOf('subject')).toEqual([]);
  });
});

/** Creates a key with the network cut from a call on. @returns whether that was before its end */
async function createUntil(at: number): Promise<boolean> {
  let calls = 0;
  const cut: Interception = (perform) =>
    (calls += 1) < at ? perform() : Promise.reject(new Error('The network is cut'));
  await world.run(() => commands['create for Enterprise'](target), cut).catch(() => undefined);
  return calls >= at;
}

/** Completes what was interrupted. @returns what a request with the token comes to that the command has made */
async function complete(record: KeyRecord | undefined, name: 'rotate' | 'revoke'): Promise<string> {
  if (!record) return 'none';
  const result = await commands[name](target, idOf(record));
  await syncLater();
  return 'key' in result ? world.verdict(parsed(result.key)) : 'none';
}

describe('a creation that is interrupted at any of its calls', () => {
  test.each([
    ['rotate', 'at once'],
    ['rotate', 'after a sync'],
    ['revoke', 'at once'],
    ['revoke', 'after a sync'],
  ] as const)('is completed by keys %s, %s', async (name, when) => {
    let found = 0;
    for (let at = 1; await createUntil(at); at++) {
      const neverShown = (await listKeys(target)).flatMap(({ tokens }) => tokens.map((token) => token.neverShown));
      if (when === 'after a sync') await syncLater();
      const [record] = await world.keys();
      found += record ? 1 : 0;
      expect(neverShown).toEqual(record ? [true] : []);

      const isRotated = record !== undefined && name === 'rotate';
      expect(await complete(record, name)).toBe(isRotated ? 'admitted' : 'none');
      const tags = { 'per-minute': '900', 'per-day': '9000' };
      const inGateway = records.apiKeys.map((key) => ({ value: key.value, tags: key.tags, plans: plansOf(key.id) }));
      expect(inGateway).toEqual(isRotated ? [{ value: record.recordId, tags, plans: ['enterprise'] }] : []);
      const views = isRotated ? [{ applied: true, tokens: [{ neverShown: false }] }] : [];
      expect(await listKeys(target)).toMatchObject(views);
      world.reset();
    }
    expect(found).toBeGreaterThan(2);
  });
});

const put = (differences: object) => () => {
  const key = records.apiKey('subject');
  if (key) records.putApiKey({ ...key, ...differences });
};
const takeOff = put({ planId: undefined });
const putOnBusiness = put({ planId: 'business' });

describe('an edit in the AWS console', () => {
  test.each<[string, Start, () => void, object]>([
    [
      'of another field is adopted',
      'open',
      put({ name: 'renamed', enabled: false }),
      { name: 'renamed', enabled: false },
    ],
    ['of the same field is overwritten', 'open', putOnBusiness, { perMinute: 300, enabled: true }],
    ['never unblocks a suspended key', 'suspended', put({ enabled: true }), { enabled: false }],
    ['that takes a key off its plan does not block it', 'open', takeOff, { enabled: true }],
  ])('%s when the key is moved', async (_, start, edit, change) => {
    await issueSubject(world, start);
    edit();
    await move();

    const [record] = await world.keys();
    expect(record).toMatchObject({ plan: 'pro', ...change });
    const { name, enabled } = record ?? {};
    expect(records.apiKey('subject')).toMatchObject({ name, enabled });
    expect(plansOf('subject')).toEqual(['pro']);
  });

  test('is adopted when the key is suspended, which blocks it', async () => {
    await issueSubject(world, 'open');
    putOnBusiness();
    put({ name: 'renamed' })();

    expect(await run('suspend')).toMatchObject({
      plan: 'business',
      name: 'renamed',
      state: 'suspended',
      applied: true,
    });
    expect(records.apiKey('subject')).toMatchObject({ name: 'renamed', enabled: false });
    expect({ plans: plansOf('subject'), messages }).toEqual({ plans: ['business'], messages: [] });
  });

  test('of a restored key is adopted when the key is moved', async () => {
    const record = aKey({ keyId: undefined, unappliedSince: UNREAD });
    await target.keyTable.add(record);
    records.putApiKey(anApiKey({ id: 'subject', name: 'renamed', value: record.recordId, planId: 'business' }));

    expect(await commands['move to Pro'](target, NAME)).toMatchObject({ id: 'subject', name: 'renamed', plan: 'pro' });
  });
});

describe('an edit', () => {
  const expires = NOW + HOUR_MS;

  test('updates name and expiry in API Gateway and in the history', async () => {
    const subject = await issueSubject(world, 'open');
    expect(await editTo({ name: 'new', expires })).toMatchObject({ name: 'new', applied: true });
    const end = new Date(NOW + HOUR_MS).toISOString();
    expect(records.apiKey('subject')).toMatchObject({ name: 'new', tags: { expires: end } });
    expect((await world.keys())[0]?.tokens).toEqual(subject.tokens);

    expect(await editTo({ expires: NO_EXPIRY })).toMatchObject({ expires: null, applied: true });
    expect(records.apiKey('subject')?.tags).toEqual({});
    expect(await history()).toMatchObject([
      { who: 'ann', what: ['expires 2026-11-21 13:30 UTC → never'] },
      { who: 'ann', what: ['name acme → new', 'expires never → 2026-11-21 13:30 UTC'] },
    ]);
  });

  test('without a change writes nothing; one without a field is refused', async () => {
    const subject = await issueSubject(world, 'open');
    await editTo({ name: NAME, expires: NO_EXPIRY });

    expect(await world.keys()).toEqual([{ ...subject, revision: 1 }]);
    await expect(editTo({})).rejects.toThrow('Nothing to edit. Pass --name, --expires or both.');
  });

  test('of the expiry makes an expired key valid, and keeps a suspended one suspended', async () => {
    await issueChanged({ expiresAtMs: NOW - 1 });
    expect(await editTo({ expires })).toMatchObject({ state: 'active' });
    world.reset();
    await issueSubject(world, 'suspended');
    expect(await editTo({ expires })).toMatchObject({ state: 'suspended' });
  });
});

describe('two commands on one key', () => {
  test.each(['move to Enterprise', 'rotate'] as const)(
    'that overlap both say when a sync completes them: a move, and %s',
    async (other) => {
      await issueSubject(world, 'open');
      const results: unknown[] = [];
      before.set('DeleteUsagePlanKeyCommand', async () => results.push(await run(other)));
      results.push(await move());

      expect(results).toMatchObject([{ applied: false }, { applied: false }]);
      const sentence = /^The change is in effect, .* A sync completes it within six minutes\.$/;
      expect(messages).toEqual([expect.stringMatching(sentence), expect.stringMatching(sentence)]);
      await syncLater();
      expect((await listKeys(target)).map(({ applied }) => applied)).toEqual([true]);
    },
  );
});

test('a move to lower limits and a revocation require confirmation', async () => {
  const view = keyView(await issueSubject(world, 'on Enterprise'));
  const { move: down, revoke } = keyActions;
  const values = { name: '', label: '', token: '', grace: 0 } as const;

  expect(down?.confirmation?.(view, { ...values, plan: 'free' })).toBe(
    'From its next request, the key has lower limits: 60 requests per minute, 1,000 per day. Until now: 900 requests per minute, 9,000 per day.',
  );
  const agreed = { perMinute: 900, perDay: 9_001 };
  expect(down?.confirmation?.(view, { ...values, plan: 'enterprise', ...agreed })).toBeUndefined();
  expect(revoke?.confirmation?.(view, { ...values, plan: 'free', reason: 'left' })).toMatch(/ Reason: left\.$/);
});

test('a move resumes a key that was suspended automatically', async () => {
  await issueChanged({ suspendedUntil: NOW + 5 * MINUTE_MS, minuteRefused: 60 });

  expect(await move()).toMatchObject({ plan: 'pro', state: 'active', suspendedUntil: null });
  expect(await world.keys()).toMatchObject([{ minuteRefused: 0 }]);
});
