import { NotFoundException, ServiceUnavailableException } from '@aws-sdk/client-api-gateway';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Target } from '../../../infra/admin/service/target.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import {
  runAction,
  type CommandName,
  commands,
  InProcessTarget,
  type Interception,
  issueSubject,
  KEYS_TABLE,
  NAME,
} from '../../support/in-process-target.ts';

const NOW = Date.parse('2026-11-21T12:30:37Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const world = new InProcessTarget();
let messages: string[];
const notices = { ...world.target.notices, incomplete: (message: string) => void messages.push(message) };
const target: Target = { ...world.target, notices };

let now: number;
beforeAll(() => void jest.spyOn(Date, 'now').mockImplementation(() => now));
afterAll(() => world.close());
beforeEach(() => {
  now = NOW;
  messages = [];
  world.reset();
});

function renameInGateway(): void {
  const apiKey = world.records.apiKey('subject');
  if (apiKey) world.records.putApiKey({ ...apiKey, name: 'renamed' });
}

/** Does something once, right before a call of a command. */
function before(name: string, act: () => Promise<unknown>): Interception {
  let isDone = false;
  return async (perform, call) => {
    if (call === name && !isDone) {
      isDone = true;
      await act();
    }
    return perform();
  };
}

describe('while API Gateway is unavailable, a command', () => {
  const always = [NO_EXPIRY, NO_EXPIRY];

  test.each<[CommandName, Partial<KeyRecord>, ends: number[], calls: number]>([
    ['suspend', { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }, always, 1],
    ['revoke', { enabled: false, revoked: true }, always, 1],
    ['suspend for a while', { suspendedUntil: NOW + HOUR_MS, suspendedByAdmin: true }, always, 0],
    ['rotate', {}, [NOW + HOUR_MS, ...always], 0],
    ['add', {}, [...always, NO_EXPIRY], 0],
    ['end', {}, [0, NO_EXPIRY], 0],
  ])('changes the key, and a sync adopts an edit in API Gateway later: %s', async (name, change, ends, calls) => {
    const subject = await issueSubject(world, 'open');
    renameInGateway();
    const failed: string[] = [];
    const unavailable: Interception = (perform, call) => {
      if (/^(?:GetItem|PutItem|Scan|UpdateItem)Command$/.test(call)) return perform();
      failed.push(call);
      return Promise.reject(new ServiceUnavailableException({ message: 'Unavailable', $metadata: {} }));
    };
    await world.run<unknown>(() => commands[name](target, 'subject', subject), unavailable);

    const [record] = await world.keys();
    expect(record).toMatchObject(change);
    const untils = Object.values(record?.tokens ?? {}).map(({ until }) => until);
    expect(untils.toSorted((a, b) => a - b)).toEqual(ends);
    expect(failed).toHaveLength(calls);
    expect(messages).toEqual(failed.map(() => expect.stringMatching(/^The .*\(Unavailable\).* sync /)));
    for (const minutes of [1, 3]) {
      now += minutes * MINUTE_MS;
      await syncKeys(target);
    }
    const isRevoked = name === 'revoke';
    expect(await world.keys()).toMatchObject([{ ...change, name: isRevoked ? NAME : 'renamed' }]);
    expect(world.records.apiKeys).toMatchObject(isRevoked ? [] : [{ enabled: change.enabled ?? true }]);
  });
});

describe('a suspension', () => {
  test('for a minute keeps the one that the limiter writes concurrently', async () => {
    const { recordId } = await issueSubject(world, 'open');
    const suspendedUntil = NOW + 5 * MINUTE_MS;
    const ban = before('UpdateItemCommand', () => {
      const UpdateExpression = 'SET suspendedUntil = :until, suspendedByAdmin = :false';
      const values = { ExpressionAttributeValues: { ':until': suspendedUntil, ':false': false } };
      const key = { TableName: KEYS_TABLE, Key: { recordId } };
      return target.documents.send(new UpdateCommand({ ...key, UpdateExpression, ...values }));
    });
    await world.run(() => runAction(target, 'suspend', 'subject', { for: MINUTE_MS }), ban);

    expect(await world.keys()).toMatchObject([{ suspendedUntil, suspendedByAdmin: true }]);
  });

  test('of a key that is missing in API Gateway creates none there; a sync revokes it', async () => {
    await issueSubject(world, 'open');
    world.records.deleteApiKey('subject');

    expect(await commands.suspend(target, 'subject')).toMatchObject({ state: 'suspended', applied: false });
    expect(messages).toEqual([
      expect.stringMatching(
        /^The change is in effect, .*\(The key subject is missing in API Gateway\. .* A sync completes it /,
      ),
    ]);
    expect(world.records.apiKeys).toEqual([]);
    await syncKeys(target);
    expect(await world.keys()).toMatchObject([{ revoked: true }]);
    await expect(commands.suspend(target, 'subject')).rejects.toThrow('The key subject was revoked.');
  });

  test.each<[string, number, Partial<KeyRecord>]>([
    ['keeps an automatic one that lasts longer', NOW + 5 * MINUTE_MS, { suspendedUntil: NOW + 5 * MINUTE_MS }],
    [
      'keeps one that lasts until a resumption',
      UNTIL_RESUMED,
      { suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true, enabled: false },
    ],
    ['lengthens a shorter one', NOW + MINUTE_MS, { suspendedUntil: NOW + 1, suspendedByAdmin: true }],
  ])('for a minute %s', async (_, suspendedUntil, change) => {
    await issueSubject(world, 'open', change);
    const view = await runAction(target, 'suspend', 'subject', { for: MINUTE_MS });

    expect((await world.keys())[0]).toMatchObject({ suspendedUntil, suspendedByAdmin: true });
    const until = suspendedUntil === UNTIL_RESUMED ? null : new Date(suspendedUntil).toISOString();
    expect(view).toMatchObject({ state: 'suspended', suspendedUntil: until });
  });
});

test.each(['suspend', 'suspend for a while'] as const)(
  'a resumption fails if the key is suspended meanwhile: %s',
  async (name) => {
    await issueSubject(world, 'suspended');
    const meanwhile = before('GetUsagePlansCommand', () => commands[name](target, 'subject'));

    const resumption = world.run(() => commands.resume(target, 'subject'), meanwhile);
    await expect(resumption).rejects.toThrow('Another command has changed the key');
    expect(await world.keys()).toMatchObject([{ enabled: false, suspendedUntil: UNTIL_RESUMED }]);
    expect(world.records.apiKey('subject')?.enabled).toBe(false);
  },
);

test.each(['move to Pro', 'resume'] as const)(
  'a key that is missing in API Gateway once stays unchanged and is reported: %s',
  async (name) => {
    const subject = await issueSubject(world, 'suspended');
    const missing = new NotFoundException({ message: 'No', $metadata: {} });
    const lost = before('GetApiKeyCommand', () => Promise.reject(missing));

    await expect(world.run<unknown>(() => commands[name](target, 'subject'), lost)).rejects.toThrow(
      'The key subject is missing in API Gateway. Nothing was changed there. If it was deleted, the next sync revokes it',
    );
    expect(await world.keys()).toEqual([{ ...subject, revision: 1 }]);
    await commands[name](target, 'subject');
  },
);

test('the history separates an edit that a command adopts from the change of the command', async () => {
  const subject = await issueSubject(world, 'open');
  renameInGateway();
  await commands['move to Pro'](target, 'subject');
  await runAction(target, 'suspend', 'subject', { reason: 'not paid' });
  await runAction(target, 'revoke', 'subject', { reason: 'left' });

  const [record = subject] = await world.keys();
  expect(await target.history.of(record, 9)).toMatchObject([
    { what: ['revoked'], reason: 'left' },
    { what: ['suspended until it is resumed'], reason: 'not paid' },
    { what: ['name acme → renamed (in API Gateway)', 'plan free → pro'] },
  ]);
});

test('the history shows a suspension by the limiter, and a second suspension as such', async () => {
  const until = NOW + 5 * MINUTE_MS;
  const banned = await issueSubject(world, 'open', { suspendedUntil: until });
  const ban = 'suspended automatically until 2026-11-21 12:35 UTC';
  expect(await target.history.of(banned, 9)).toMatchObject([
    { at: new Date(NOW).toISOString(), who: 'limiter', what: [ban] },
  ]);

  for (const reason of ['a1', 'a2']) await runAction(target, 'suspend', 'subject', { reason });
  const [record = banned] = await world.keys();
  expect(await target.history.of(record, 9)).toMatchObject([
    { what: ['suspended as before'], reason: 'a2' },
    { what: ['suspended until it is resumed'], reason: 'a1' },
  ]);
});

describe('a command on a key that is pending sync reports what it unblocks in API Gateway', () => {
  test.each<[CommandName, Partial<KeyRecord>, number]>([
    ['move to Pro', {}, 1],
    ['resume', { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }, 0],
    ['suspend', {}, 0],
  ])('%s of %j', async (name, differences, named) => {
    await issueSubject(world, 'open', { unappliedSince: NOW - 4 * MINUTE_MS, ...differences });
    const apiKey = world.records.apiKey('subject');
    if (apiKey) world.records.putApiKey({ ...apiKey, enabled: false });
    await commands[name](target, 'subject');

    const problem = 'The key subject is disabled in API Gateway, unlike its record, so it is unblocked there.';
    expect(messages.filter((words) => words.startsWith(problem))).toHaveLength(named);
    expect(world.records.apiKey('subject')?.enabled).toBe(name !== 'suspend');
  });
});
