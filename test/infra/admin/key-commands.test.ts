import { TooManyRequestsException } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listKeys } from '../../../infra/admin/keys/key-view.ts';
import { suspendKey } from '../../../infra/admin/keys/suspend-key.ts';
import type { Target } from '../../../infra/admin/target.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { plans } from '../../../shared/keys/plans.ts';
import {
  type CommandName,
  commands,
  InProcessTarget,
  type Interception,
  issueSubject,
} from '../../support/in-process-target.ts';
import { parsed } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:37Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const world = new InProcessTarget();
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
const { now: realNow } = Date;
beforeAll(() => {
  Date.now = () => now;
});
afterAll(() => {
  Date.now = realNow;
  world.close();
});
beforeEach(() => {
  now = NOW;
  messages = [];
  world.reset();
  before.clear();
});

async function issueChanged(change: KeyChange): Promise<KeyRecord | undefined> {
  return target.keyTable.revise(await issueSubject(world, 'open'), change);
}

const run = (name: CommandName) => commands[name](target, 'subject');
const move = () => commands['move to Pro'](target, 'subject');
const plansOfSubject = () => world.records.plansOfKey('subject').map(({ id }) => id);

/** What an admin does to the key in the AWS console. */
function edit(differences: { readonly name?: string; readonly enabled?: boolean }): void {
  const key = world.records.apiKey('subject');
  if (key) world.records.putApiKey({ ...key, ...differences });
}

/** Syncs once what was cut off may be applied, and once it may be cleared. */
async function syncLater(): Promise<void> {
  for (const minutes of [1, 3]) {
    now += minutes * MINUTE_MS;
    await syncKeys(target);
  }
}

/** Creates a key with the network cut from a call on. @returns whether it was cut off before its end */
async function createUntil(at: number): Promise<boolean> {
  let calls = 0;
  const cut: Interception = (perform) =>
    (calls += 1) < at ? perform() : Promise.reject(new Error('The network is cut'));
  await world.run(() => commands['create for Enterprise'](target), cut).catch(() => undefined);
  return calls >= at;
}

describe('A command that API Gateway fails after the write', () => {
  test.each<[CommandName, string, object]>([
    ['move to Pro', 'DeleteUsagePlanKeyCommand', { plan: 'pro' }],
    ['move to Pro', 'CreateUsagePlanKeyCommand', { plan: 'pro' }],
    ['move to Enterprise', 'TagResourceCommand', { plan: 'enterprise', perMinute: 800 }],
    ['suspend', 'UpdateApiKeyCommand', { enabled: false, suspendedUntil: NEVER }],
    ['revoke', 'DeleteApiKeyCommand', { enabled: false, revoked: true }],
  ])('is done, and says that a sync does the rest: %s at %s', async (name, call, change) => {
    await issueSubject(world, 'open');
    before.set(call, () => Promise.reject(new TooManyRequestsException({ message: 'Too many', $metadata: {} })));
    await run(name);

    expect(messages).toEqual([expect.stringMatching(/^It is (done|revoked), .*\(Too many\).* sync /)]);
    expect(await world.keys()).toMatchObject([change]);
    expect((await listKeys(target)).map(({ applied }) => applied)).toEqual(name === 'revoke' ? [] : [false]);
    await syncLater();
    const [record] = await world.keys();
    expect(record).toMatchObject(change);
    expect(record).not.toHaveProperty('unappliedSince');
    const { enabled, plan } = record ?? {};
    const inGateway = world.records.apiKeys.map((key) => ({ enabled: key.enabled, plans: plansOfSubject() }));
    expect(inGateway).toEqual(name === 'revoke' ? [] : [{ enabled, plans: [plan] }]);
  });

  test('makes no call that begins later than a minute after it', async () => {
    await issueSubject(world, 'open');
    before.set('DeleteUsagePlanKeyCommand', () => (now += MINUTE_MS));

    expect(await move()).toMatchObject({ plan: 'pro', applied: false });
    expect(messages).toEqual([expect.stringContaining('(It took more than a minute)')]);
    expect(plansOfSubject()).toEqual([]);
  });

  test('leaves nothing to a sync where it does not', async () => {
    await issueSubject(world, 'open');

    expect(await move()).toMatchObject({ plan: 'pro', applied: true });
    const [record] = await world.keys();
    expect(record).toMatchObject({ interimUntil: NOW + 5 * MINUTE_MS });
    expect(messages).toEqual([]);
  });
});

/** What a key comes to that was cut off, after the command that completes it. */
async function completed(record: KeyRecord | undefined, name: 'rotate' | 'revoke') {
  if (!record) return { keys: world.records.apiKeys, views: [] };
  const result = await commands[name](target, idOf(record));
  await syncLater();
  const verdict = 'key' in result ? await world.verdict(parsed(result.key)) : 'none';
  const plansOf = (id: string) => world.records.plansOfKey(id).map((plan) => plan.id);
  const keys = world.records.apiKeys.map(({ id, value, tags }) => ({ value, tags, plans: plansOf(id) }));
  return { verdict, keys, views: await listKeys(target) };
}

describe('A creation', () => {
  test.each([
    ['rotate', 'at once'],
    ['rotate', 'after a sync'],
    ['revoke', 'at once'],
    ['revoke', 'after a sync'],
  ] as const)('that is cut off at any of its calls is completed: keys %s does what it says, %s', async (name, when) => {
    const found: string[] = [];
    for (let at = 1; await createUntil(at); at++) {
      if (when === 'after a sync') await syncLater();
      const [record] = await world.keys();
      found.push(record ? `${record.keyId === undefined ? 'no' : 'its'} id` : 'nothing');
      const tags = { 'per-minute': '900', 'per-day': '9000' };
      const rotated = {
        verdict: 'admitted',
        keys: [{ value: record?.recordId, tags, plans: ['enterprise'] }],
        views: [{ applied: true, tokens: [{ neverShown: false }] }],
      };
      const isRotated = record && name === 'rotate';
      expect(await completed(record, name)).toMatchObject(isRotated ? rotated : { keys: [], views: [] });
      world.reset();
    }
    const withoutId = when === 'at once' ? ['no id', 'its id'] : ['its id'];
    expect([...new Set(found)]).toEqual(['nothing', ...withoutId]);
  });

  test('has a token that was never shown, until it was', async () => {
    await createUntil(4);

    expect(await listKeys(target)).toMatchObject([{ state: 'active', applied: false, tokens: [{ neverShown: true }] }]);
  });
});

describe('What an admin has just done in the AWS console', () => {
  test('is taken over by a command on another field', async () => {
    await issueSubject(world, 'open');
    edit({ name: 'renamed', enabled: false });

    expect(await move()).toMatchObject({ plan: 'pro', name: 'renamed', state: 'disabled' });
    expect(world.records.apiKey('subject')).toMatchObject({ name: 'renamed', enabled: false });
  });

  test('gives way to a command on the same field', async () => {
    await issueSubject(world, 'open');
    world.records.removeFromPlan('free', 'subject');
    world.records.putOnPlan('business', 'subject');

    expect(await move()).toMatchObject({ plan: 'pro', perMinute: plans.pro.limits.perMinute });
    expect(plansOfSubject()).toEqual(['pro']);
  });

  test('is not known of a key that is unapplied: its record holds', async () => {
    await issueChanged({ unappliedSince: NOW - HOUR_MS });
    edit({ name: 'renamed', enabled: false });

    expect(await move()).toMatchObject({ plan: 'pro', name: 'acme', state: 'active', applied: false });
    expect(world.records.apiKey('subject')).toMatchObject({ name: 'acme', enabled: true });
  });

  test('never opens a key that is suspended', async () => {
    await issueSubject(world, 'suspended');
    edit({ enabled: true });

    expect(await move()).toMatchObject({ plan: 'pro', state: 'suspended' });
    expect(world.records.apiKey('subject')?.enabled).toBe(false);
  });

  test('leaves a key open that was taken off its plan, and is moved to another', async () => {
    await issueSubject(world, 'open');
    world.records.removeFromPlan('free', 'subject');

    expect(await move()).toMatchObject({ plan: 'pro', state: 'active' });
    expect(plansOfSubject()).toEqual(['pro']);
  });

  test.each(['move to Pro', 'suspend', 'resume', 'rotate', 'add', 'end'] as const)(
    'ends a key that was deleted: %s closes it, and fails',
    async (name) => {
      const subject = await issueSubject(world, 'open');
      world.records.deleteApiKey('subject');

      await expect(commands[name](target, 'subject', subject)).rejects.toThrow(
        'The key subject was deleted in API Gateway, and is revoked. Create another.',
      );
      expect(await world.keys()).toMatchObject([{ enabled: false, revoked: true }]);
      await expect(run(name)).rejects.toThrow('The key subject was revoked.');
    },
  );
});

test('A move lets a key in that has suspended itself', async () => {
  await issueChanged({ suspendedUntil: NOW + 5 * MINUTE_MS, minuteRefused: 60 });

  expect(await move()).toMatchObject({ plan: 'pro', state: 'active', suspendedUntil: null });
  expect(await world.keys()).toMatchObject([{ minuteRefused: 0 }]);
});

describe('A suspension', () => {
  test('wins over a move that is under way', async () => {
    await issueSubject(world, 'open');
    before.set('DeleteUsagePlanKeyCommand', () => run('suspend'));

    await move();
    expect(await world.keys()).toMatchObject([{ enabled: false, suspendedUntil: NEVER, plan: 'pro' }]);
    expect(world.records.apiKey('subject')?.enabled).toBe(false);
  });

  test.each([['suspend'], ['suspend for a while']] as const)(
    '(%s) wins over a resumption, which says so',
    async (name) => {
      await issueSubject(world, 'suspended');
      before.set('GetApiKeyCommand', () => before.set('GetUsagePlansCommand', () => run(name)));

      await expect(run('resume')).rejects.toThrow('was changed by another command meanwhile');
      expect(await world.keys()).toMatchObject([{ enabled: false, suspendedUntil: NEVER }]);
      expect(world.records.apiKey('subject')?.enabled).toBe(false);
    },
  );

  test.each<[string, number, Partial<KeyRecord>]>([
    ['leaves an automatic one that lasts longer', NOW + 5 * MINUTE_MS, { suspendedUntil: NOW + 5 * MINUTE_MS }],
    ['leaves a longer one', NOW + HOUR_MS, { suspendedUntil: NOW + HOUR_MS, suspendedByAdmin: true }],
    ['leaves one that is to be resumed', NEVER, { suspendedUntil: NEVER, suspendedByAdmin: true, enabled: false }],
    ['lengthens a shorter one', NOW + MINUTE_MS, { suspendedUntil: NOW + 1, suspendedByAdmin: true }],
  ])('for a minute %s', async (_, suspendedUntil, { ...change }) => {
    await issueChanged(change);
    const view = await suspendKey(target, 'subject', MINUTE_MS);

    expect((await world.keys())[0]).toMatchObject({ suspendedUntil, suspendedByAdmin: true });
    expect(view).toMatchObject({
      state: 'suspended',
      suspendedUntil: suspendedUntil === NEVER ? null : new Date(suspendedUntil).toISOString(),
    });
  });
});
