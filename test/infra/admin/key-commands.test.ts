import { describe, expect, test } from '@jest/globals';
import type { Inputs } from '../../../infra/admin/keys/inputs.ts';
import { keyActions } from '../../../infra/admin/keys/key-actions.ts';
import { keyView, listKeys } from '../../../infra/admin/keys/key-view.ts';
import { UNREAD } from '../../../shared/key-registry/reconcile.ts';
import { idOf, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import {
  runAction,
  type CommandName,
  commands,
  type Interception,
  issueSubject,
  NAME,
  type Start,
} from '../../support/in-process-target.ts';
import { aKey, parsed } from '../../support/tables.ts';
import { AdminService, HOUR_MS, MINUTE_MS, NOW } from './admin-service.ts';

const service = new AdminService();
const { world, target, clock } = service;
const { records } = world;

const run = (name: CommandName) => commands[name](target, 'subject');
const editTo = (change: Partial<Inputs>) => runAction(target, 'edit', 'subject', change);
const plansOf = (id: string) => records.plansOfKey(id).map((plan) => plan.id);

test('A command on a restored key reports each key that its sync unblocks', async () => {
  await issueSubject(world, 'open', { unappliedSince: NOW - MINUTE_MS });
  service.editInConsole({ enabled: false });
  await target.keyTable.add(aKey({ keyId: undefined, name: 'restored', unappliedSince: UNREAD }));

  await commands['move to Pro'](target, 'restored');
  expect(service.messages[0]).toContain('keys suspend subject');
});

test('A command starts no call more than a minute after its write, and a sync completes it', async () => {
  await issueSubject(world, 'open');
  world.before.set('DeleteUsagePlanKeyCommand', () => clock.moveTo(NOW + MINUTE_MS));

  expect(await run('move to Pro')).toMatchObject({ plan: 'pro', applied: false });
  const sentence = /^The change is in effect, .*\(It took more than a minute\).* A sync completes it /;
  expect(service.messages).toEqual([expect.stringMatching(sentence)]);
  expect(plansOf('subject')).toEqual([]);
  await service.syncLater();
  expect(await listKeys(target)).toMatchObject([{ plan: 'pro', applied: true }]);
  expect(plansOf('subject')).toEqual(['pro']);
});

/** Creates the only key, with the network cut from a call on. @returns whether that was before its end */
async function createUntil(at: number): Promise<boolean> {
  let calls = 0;
  world.reset();
  const cut: Interception = (perform) =>
    (calls += 1) < at ? perform() : Promise.reject(new Error('The network is cut'));
  await world.run(() => commands['create for Enterprise'](target), cut).catch(() => undefined);
  return calls >= at;
}

test.each([true, false])(
  'A creation that is interrupted at any of its calls is completed by a rotation; after a sync: %s',
  async (isSynced) => {
    let found = 0;
    for (let at = 1; at < 50 && (await createUntil(at)); at++) {
      const [view] = await listKeys(target);
      if (!view) continue;
      found += 1;
      expect(view).toMatchObject({ tokens: [{ neverShown: true }] });
      if (isSynced) await service.syncLater();
      const { token } = await commands.rotate(target, idOf(await service.record()));
      await service.syncLater();
      const tags = { 'per-minute': '900', 'per-day': '9000' };
      expect(records.apiKeys).toMatchObject([{ value: parsed(token).recordId, tags, planId: 'enterprise' }]);
      expect(await listKeys(target)).toMatchObject([{ applied: true, tokens: [{ neverShown: false }] }]);
      expect(await world.verdict(parsed(token))).toBe('admitted');
    }
    expect(found).toBeGreaterThan(2);
  },
);

describe('An edit in the AWS console that no sync has read', () => {
  const [renamed, disabled, onBusiness] = [{ name: 'renamed' }, { enabled: false }, { planId: 'business' }];

  test.each<[string, Start, object, Partial<KeyRecord>]>([
    ['is adopted if it is to another field', 'open', { ...renamed, ...disabled }, { ...renamed, ...disabled }],
    ['is overridden if it is to the same field', 'open', onBusiness, { enabled: true, perMinute: 300 }],
    ['never unblocks a key', 'suspended', { enabled: true }, { ...disabled, suspendedUntil: UNTIL_RESUMED }],
    ['does not block a key by taking it off its plan', 'open', { planId: undefined }, { enabled: true }],
  ])('%s: by a move to Pro', async (_, start, edit, change) => {
    await issueSubject(world, start);
    service.editInConsole(edit);
    await run('move to Pro');

    const record = await service.record();
    expect(record).toMatchObject({ plan: 'pro', interimUntil: NOW + 5 * MINUTE_MS, ...change });
    expect(records.apiKey('subject')).toMatchObject({ name: record.name, enabled: record.enabled });
    expect({ plans: plansOf('subject'), messages: service.messages }).toEqual({ plans: ['pro'], messages: [] });
  });

  test('is adopted by a suspension, which blocks the key', async () => {
    await issueSubject(world, 'open');
    service.editInConsole({ ...onBusiness, ...renamed });

    expect(await run('suspend')).toMatchObject({ plan: 'business', ...renamed, state: 'suspended', applied: true });
    expect(records.apiKey('subject')).toMatchObject({ ...renamed, ...disabled, planId: 'business' });
  });

  test('is adopted from a key that was restored from an older copy', async () => {
    const record = aKey({ keyId: undefined, unappliedSince: UNREAD });
    await target.keyTable.add(record);
    records.putApiKey(anApiKey({ id: 'subject', name: 'renamed', value: record.recordId, planId: 'business' }));

    expect(await commands['move to Pro'](target, NAME)).toMatchObject({ id: 'subject', name: 'renamed', plan: 'pro' });
  });
});

describe('keys edit', () => {
  test('updates name and expiry in API Gateway too, and records both in the history', async () => {
    const subject = await issueSubject(world, 'open');
    expect(await editTo({ name: 'new', expires: NOW + HOUR_MS })).toMatchObject({ name: 'new', applied: true });
    expect(records.apiKey('subject')).toMatchObject({ name: 'new', tags: { expires: '2026-11-21T13:30:37.000Z' } });
    expect((await service.record()).tokens).toEqual(subject.tokens);

    expect(await editTo({ expires: NO_EXPIRY })).toMatchObject({ expires: null, applied: true });
    expect(records.apiKey('subject')?.tags).toEqual({});
    expect(await target.history.of(await service.record(), 9)).toMatchObject([
      { who: 'ann', what: ['expires 2026-11-21 13:30 UTC → never'] },
      { who: 'ann', what: ['name acme → new', 'expires never → 2026-11-21 13:30 UTC'] },
    ]);
  });

  test('writes nothing if nothing changes, and requires a change', async () => {
    const subject = await issueSubject(world, 'open');
    await editTo({ name: NAME, expires: NO_EXPIRY });

    expect(await world.keys()).toEqual([{ ...subject, revision: 1 }]);
    await expect(editTo({})).rejects.toThrow('Nothing to edit. Pass --name, --expires or both.');
  });
});

test.each(['move to Enterprise', 'rotate'] as const)(
  'Two overlapping commands on a key both report that a sync completes them: a move and %s',
  async (other) => {
    await issueSubject(world, 'open');
    world.before.set('DeleteUsagePlanKeyCommand', async () =>
      expect(await run(other)).toHaveProperty('applied', false),
    );

    expect(await run('move to Pro')).toHaveProperty('applied', false);
    const sentence = /^The change is in effect, .* A sync completes it within six minutes\.$/;
    expect(service.messages).toEqual([expect.stringMatching(sentence), expect.stringMatching(sentence)]);
    await service.syncLater();
    expect(await listKeys(target)).toMatchObject([{ applied: true }]);
  },
);

test('A move to lower limits must be confirmed, and a revocation with its reason', async () => {
  const view = keyView(await issueSubject(world, 'on Enterprise'));
  const onFree: Inputs = JSON.parse('{ "plan": "free" }');
  const confirmation = (action: string, values: Partial<Inputs>) =>
    keyActions[action]?.confirmation?.(view, { ...onFree, ...values }, target);

  expect(confirmation('move', {})).toBe(
    'From its next request, the key has lower limits: 60 requests per minute, 1,000 per day. Until now: 900 requests per minute, 9,000 per day.',
  );
  expect(confirmation('move', { plan: 'enterprise', perMinute: 900, perDay: 9_001 })).toBeUndefined();
  expect(confirmation('revoke', { reason: 'left' })).toMatch(/ Reason: left\.$/);
});

test('A move unblocks a key that the limiter has suspended', async () => {
  await issueSubject(world, 'open', { suspendedUntil: NOW + 5 * MINUTE_MS, minuteRefused: 60 });

  expect(await run('move to Pro')).toMatchObject({ plan: 'pro', state: 'active', suspendedUntil: null });
  expect(await service.record()).toMatchObject({ minuteRefused: 0 });
});
