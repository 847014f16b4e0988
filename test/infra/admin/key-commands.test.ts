import { APIGatewayServiceException, TooManyRequestsException } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKey } from '../../../infra/admin/keys/create-key.ts';
import { suspendKey } from '../../../infra/admin/keys/suspend-key.ts';
import { UNDER_WAY_MS } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { commands, InProcessTarget, issueSubject } from '../../support/in-process-target.ts';
import { parsed } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:37Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const world = new InProcessTarget();
const { target } = world;

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
  world.reset();
  before.clear();
});

async function issueChanged(change: KeyChange): Promise<KeyRecord | undefined> {
  return target.keyTable.revise(await issueSubject(world, 'open'), change);
}

const move = () => commands['move to Pro'](target, 'subject');
const busy = async () => (await world.keys())[0]?.busy;
const plansOfSubject = () => world.records.plansOfKey('subject').map(({ id }) => id);

describe('A move', () => {
  test('is refused while another command is under way, for ten minutes at most, and says how long', async () => {
    await issueChanged({ busy: { by: 'resume', since: NOW - UNDER_WAY_MS + 1, id: 'aB3x' } });
    const keys = await world.keys();

    await expect(move()).rejects.toThrow(
      'Another command (resume) is under way on the key subject since 2026-11-21 12:20 UTC. ' +
        'Run this one again when it is done; if it was cut off, at 2026-11-21 12:31 UTC.',
    );
    expect({ keys: await world.keys(), plans: plansOfSubject() }).toEqual({ keys, plans: ['free'] });
    now += 1;
    expect(await move()).toMatchObject({ plan: 'pro' });
  });

  test('lets a key in that has suspended itself', async () => {
    await issueChanged({ suspendedUntil: NOW + 5 * MINUTE_MS, minuteRefused: 60 });
    expect(await move()).toMatchObject({ plan: 'pro', state: 'active', suspendedUntil: null });
    expect(await world.keys()).toMatchObject([{ minuteRefused: 0 }]);
  });

  test('is refused where another one began in the same millisecond', async () => {
    await issueSubject(world, 'open');
    const moves = await Promise.allSettled([move(), move()]);

    expect(moves.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [reason] = moves.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    expect(reason).toContain('Another command (move) is under way on the key subject');
  });

  test('gives up before its next call to API Gateway once it has taken five minutes, and can be run again', async () => {
    await issueSubject(world, 'open');
    before.set('DeleteUsagePlanKeyCommand', () => (now += 5 * MINUTE_MS + 1));

    await expect(move()).rejects.toThrow('The command took too long, and was given up. Run it again.');
    expect({ plans: plansOfSubject(), busy: await busy() }).toEqual({ plans: ['free'], busy: undefined });
    expect(await move()).toMatchObject({ plan: 'pro' });
    expect(plansOfSubject()).toEqual(['pro']);
  });

  test('that API Gateway refuses leaves no mark: it can be run again at once', async () => {
    await issueSubject(world, 'open');
    const refusal = new TooManyRequestsException({ message: 'Too many', $metadata: { httpStatusCode: 429 } });
    before.set('CreateUsagePlanKeyCommand', () => Promise.reject(refusal));

    await expect(move()).rejects.toBe(refusal);
    expect(await busy()).toBeUndefined();
    expect(await move()).toMatchObject({ plan: 'pro' });
  });

  const fault = {
    name: 'InternalFailure',
    $fault: 'server',
    message: 'Oh',
    $metadata: { httpStatusCode: 500 },
  } as const;

  test.each([
    ['the network fails', Object.assign(new Error('connect ECONNRESET'), { code: 'ECONNRESET' })],
    ['API Gateway has a fault of its own', new APIGatewayServiceException(fault)],
  ])('leaves its mark where %s, and says from when on it can be run again', async (_, error) => {
    await issueSubject(world, 'open');
    before.set('CreateUsagePlanKeyCommand', () => Promise.reject(error));

    await expect(move()).rejects.toThrow(
      `AWS could not be used: ${error.message} (${error.name}). ` +
        'What was sent may still arrive: run the same command again at 2026-11-21 12:41 UTC.',
    );
    expect(await busy()).toEqual({ by: 'move', since: NOW, id: expect.any(String) });
    await expect(move()).rejects.toThrow('Another command (move) is under way');
    now = Date.parse('2026-11-21T12:41:00Z');
    expect(await move()).toMatchObject({ plan: 'pro' });
  });
});

describe('A suspension', () => {
  test('goes by no mark: a move that is under way comes to its end, and the key stays closed', async () => {
    await issueSubject(world, 'open');
    before.set('DeleteUsagePlanKeyCommand', () => commands.suspend(target, 'subject'));

    expect(await move()).toMatchObject({ plan: 'pro', state: 'suspended' });
    expect(await world.keys()).toMatchObject([{ enabled: false, suspendedUntil: NEVER, plan: 'pro' }]);
    expect(world.records.apiKey('subject')?.enabled).toBe(false);
  });

  test.each([['suspend'], ['suspend for a while']] as const)(
    '(%s) wins over a resumption, which says so',
    async (name) => {
      await issueSubject(world, 'suspended');
      before.set('UpdateApiKeyCommand', () => commands[name](target, 'subject'));

      await expect(commands.resume(target, 'subject')).rejects.toThrow('was changed by another command meanwhile');
      expect(await world.keys()).toMatchObject([{ enabled: false, suspendedUntil: NEVER }]);
      expect({ busy: await busy(), apiKey: world.records.apiKey('subject')?.enabled }).toEqual({ apiKey: false });
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

describe('A creation whose first call has no answer', () => {
  const LOST = 'lost answer';
  const order = { name: 'acme', plan: 'free', limits: plans.free.limits } as const;

  test('finds the key that it has made by its value, and goes on', async () => {
    target.gateway.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          // The SDK sends it once more: API Gateway has a key of this value by then, and refuses another.
          if (commandName === 'CreateApiKeyCommand') await next(args);
          return next(args);
        },
      { step: 'initialize', name: LOST },
    );
    const token = await createKey(target, order).finally(() => target.gateway.middlewareStack.remove(LOST));
    await token.confirmShown();

    expect(world.records.apiKeys).toMatchObject([{ id: token.id, value: parsed(token.key).recordId, tags: {} }]);
    expect(await world.keys()).toMatchObject([{ keyId: token.id }]);
    expect(await world.verdict(parsed(token.key))).toBe('admitted');
  });
});
