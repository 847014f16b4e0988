import { ServiceUnavailableException } from '@aws-sdk/client-api-gateway';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { syncKeys } from '../../../shared/key-registry/key-sync.ts';
import type { Inputs } from '../../../infra/admin/keys/inputs.ts';
import { keyActions } from '../../../infra/admin/keys/key-actions.ts';
import { type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import {
  runAction,
  type CommandName,
  commands,
  type Interception,
  issueSubject,
  KEYS_TABLE,
  NAME,
} from '../../support/in-process-target.ts';
import { AdminService, HOUR_MS, MINUTE_MS, NOW } from './admin-service.ts';

const service = new AdminService();
const { world, target } = service;

const history = async () => target.history.of(await service.record(), 9);
const suspend = (values: object) => runAction(target, 'suspend', 'subject', values);
const NO_INPUTS: Inputs = JSON.parse('{}');
const untilResumed = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };

describe('While API Gateway is unavailable', () => {
  const always = [NO_EXPIRY, NO_EXPIRY];

  test.each<[CommandName, Partial<KeyRecord>, ends: number[], calls: number]>([
    ['suspend', untilResumed, always, 1],
    ['revoke', { enabled: false, revoked: true }, always, 1],
    ['suspend for a while', { suspendedUntil: NOW + HOUR_MS, suspendedByAdmin: true }, always, 0],
    ['rotate', {}, [NOW + HOUR_MS, ...always], 0],
    ['add', {}, [...always, NO_EXPIRY], 0],
    ['end', {}, [0, NO_EXPIRY], 0],
  ])('%s takes effect, and a later sync adopts an edit made in API Gateway', async (name, change, ends, calls) => {
    const subject = await issueSubject(world, 'open');
    service.editInConsole({ name: 'renamed' });
    const failed: string[] = [];
    const unavailable: Interception = (perform, call) => {
      if (/^(?:GetItem|PutItem|Scan|UpdateItem)Command$/.test(call)) return perform();
      failed.push(call);
      return Promise.reject(new ServiceUnavailableException({ message: 'Unavailable', $metadata: {} }));
    };
    await world.run<unknown>(() => commands[name](target, 'subject', subject), unavailable);

    const record = await service.record();
    expect(record).toMatchObject(change);
    const untils = Object.values(record.tokens).map(({ until }) => until);
    expect(untils.toSorted((a, b) => a - b)).toEqual(ends);
    expect(failed).toHaveLength(calls);
    expect(service.messages).toEqual(failed.map(() => expect.stringMatching(/^The .*\(Unavailable\).* sync /)));
    await service.syncLater();
    const isRevoked = name === 'revoke';
    expect(await service.record()).toMatchObject({ ...change, name: isRevoked ? NAME : 'renamed' });
    expect(world.records.apiKeys).toMatchObject(isRevoked ? [] : [{ enabled: change.enabled ?? true }]);
  });
});

describe('a suspension', () => {
  test('for a minute does not shorten one that the limiter writes at the same time', async () => {
    const { recordId } = await issueSubject(world, 'open');
    const suspendedUntil = NOW + 5 * MINUTE_MS;
    world.before.set('UpdateItemCommand', () =>
      target.documents.send(
        new UpdateCommand({
          TableName: KEYS_TABLE,
          Key: { recordId },
          UpdateExpression: 'SET suspendedUntil = :until, suspendedByAdmin = :false',
          ExpressionAttributeValues: { ':until': suspendedUntil, ':false': false },
        }),
      ),
    );
    await suspend({ for: MINUTE_MS });

    expect(await service.record()).toMatchObject({ suspendedUntil, suspendedByAdmin: true });
  });

  test.each<[string, number, Partial<KeyRecord>]>([
    ['does not end one that lasts until it is resumed', UNTIL_RESUMED, untilResumed],
    ['extends a shorter one', NOW + MINUTE_MS, { suspendedUntil: NOW + 1, suspendedByAdmin: true }],
  ])('for a minute %s', async (_, suspendedUntil, change) => {
    await issueSubject(world, 'open', change);
    const view = await suspend({ for: MINUTE_MS });

    expect(await service.record()).toMatchObject({ suspendedUntil, suspendedByAdmin: true });
    const until = suspendedUntil === UNTIL_RESUMED ? null : new Date(suspendedUntil).toISOString();
    expect(view).toMatchObject({ state: 'suspended', suspendedUntil: until });
  });

  test.each(['suspend', 'suspend for a while'] as const)('wins over a concurrent resumption: %s', async (name) => {
    await issueSubject(world, 'suspended');
    world.before.set('GetUsagePlansCommand', () => commands[name](target, 'subject'));

    await expect(commands.resume(target, 'subject')).rejects.toThrow('Another command has changed the key');
    expect(await service.record()).toMatchObject({ enabled: false, suspendedUntil: UNTIL_RESUMED });
    expect(world.records.apiKey('subject')?.enabled).toBe(false);
  });
});

const lose = async (differences: Partial<KeyRecord> = {}) => {
  const subject = await issueSubject(world, 'open', differences);
  world.records.deleteApiKey('subject');
  return subject;
};

describe('A key that is missing in API Gateway', () => {
  test.each(['move to Pro', 'edit'] as const)('is left to a sync by %s, and once blocked, stays so', async (name) => {
    const subject = await lose();
    await expect(commands[name](target, 'subject')).rejects.toThrow(
      /^The key subject is missing in API Gateway\. Nothing was changed\. .* keys resume subject$/,
    );
    expect(await world.keys()).toEqual([{ ...subject, revision: 1 }]);

    await syncKeys(target);
    expect(await commands[name](target, 'subject')).toMatchObject({ state: 'disabled', applied: true });
    await service.syncLater();
    expect(await service.record()).toMatchObject(name === 'edit' ? { name: 'edited' } : { plan: 'pro' });
    expect(world.records.apiKeys).toEqual([]);
  });

  test.each([true, false])('is created anew by keys resume, which says so; after a sync: %s', async (isSynced) => {
    await lose();
    if (isSynced) await syncKeys(target);
    const { message, view } = (await keyActions['resume']?.run(target, NO_INPUTS, 'subject')) ?? {};

    const id = world.records.apiKeys[0]?.id;
    expect(message).toBe(
      `acme ${isSynced ? '' : 'is not suspended: it '}is active. Its API Gateway key was deleted, and is created anew with the id ${id}.`,
    );
    expect(view).toMatchObject({ id, state: 'active', applied: true });
    expect(world.records.apiKeys).toMatchObject([{ enabled: true, planId: 'free' }]);
  });

  test('is suspended at once, and not created', async () => {
    await lose();

    expect(await suspend({})).toMatchObject({ state: 'suspended', applied: true });
    await service.syncLater();
    expect(await service.record()).toMatchObject(untilResumed);
    expect(world.records.apiKeys).toEqual([]);
  });

  test('is created anew by a command that completes a pending change, and reported', async () => {
    await lose({ unappliedSince: NOW - 4 * MINUTE_MS });
    await commands['move to Pro'](target, 'subject');

    expect(service.messages).toContainEqual(expect.stringMatching(/^The key subject was deleted in API Gateway/));
    expect(world.records.apiKeys).toMatchObject([{ enabled: true, planId: 'pro' }]);
  });

  test('cannot be created anew if it was created there', async () => {
    await lose({ recordId: 'f'.repeat(64) });
    await syncKeys(target);

    await expect(commands.resume(target, 'subject')).rejects.toThrow('Its value is not stored');
    expect(await commands['move to Pro'](target, 'subject')).toMatchObject({ plan: 'pro', state: 'disabled' });
    expect(world.records.apiKeys).toEqual([]);
  });
});

describe('The history', () => {
  test('lists an edit in API Gateway apart from the command that adopts it, and gives reasons', async () => {
    await issueSubject(world, 'open');
    service.editInConsole({ name: 'renamed' });
    await commands['move to Pro'](target, 'subject');
    await suspend({ reason: 'not paid' });
    await runAction(target, 'revoke', 'subject', { reason: 'left' });

    expect(await history()).toMatchObject([
      { what: ['revoked'], reason: 'left' },
      { what: ['suspended until it is resumed'], reason: 'not paid' },
      { what: ['name acme → renamed (in API Gateway)', 'plan free → pro'] },
    ]);
  });

  test('has a suspension by the limiter until an admin suspends the key, and each further suspension', async () => {
    await issueSubject(world, 'open', { suspendedUntil: NOW + 5 * MINUTE_MS });
    const what = ['suspended automatically until 2026-11-21 12:35 UTC'];
    expect(await history()).toMatchObject([{ at: new Date(NOW).toISOString(), who: 'limiter', what }]);

    for (const reason of ['a1', 'a2']) await suspend({ reason });
    expect(await history()).toMatchObject([
      { what: ['suspended as before'], reason: 'a2' },
      { what: ['suspended until it is resumed'], reason: 'a1' },
    ]);
  });
});

test.each<[CommandName, Partial<KeyRecord>, reports: number]>([
  ['move to Pro', {}, 1],
  ['resume', untilResumed, 0],
  ['suspend', {}, 0],
])('A command reports that it unblocks a key whose sync is pending: %s of %j', async (name, differences, reports) => {
  await issueSubject(world, 'open', { unappliedSince: NOW - 4 * MINUTE_MS, ...differences });
  service.editInConsole({ enabled: false });
  await commands[name](target, 'subject');

  const problem = 'The key subject is disabled in API Gateway, unlike its record, so it is unblocked there.';
  expect(service.messages.filter((words) => words.startsWith(problem))).toHaveLength(reports);
  expect(world.records.apiKey('subject')?.enabled).toBe(name !== 'suspend');
});
