import { APIGatewayServiceException } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addToken } from '../../../infra/admin/keys/new-token.ts';
import { endToken } from '../../../infra/admin/keys/end-token.ts';
import { rotateKey } from '../../../infra/admin/keys/rotate-key.ts';
import { suspendKey } from '../../../infra/admin/keys/suspend-key.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { commands, InProcessTarget, issueSubject, sync } from '../../support/in-process-target.ts';
import { parsed } from '../../support/tables.ts';

const world = new InProcessTarget();
const { target } = world;

/** Whether every write of the table is sent twice, as the SDK does where the answer to the first was lost. */
let isSentTwice = false;
/** The call of API Gateway that fails, with an answer. */
let failing = '';

for (const { middlewareStack } of [target.documents])
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        if (isSentTwice && /Put|Update/.test(commandName)) await next(args);
        return next(args);
      },
    { step: 'initialize' },
  );
target.gateway.middlewareStack.add(
  (next, { commandName = '' }) =>
    (args) =>
      commandName === failing ? Promise.reject(accessDenied) : next(args),
  { step: 'initialize' },
);
const accessDenied = new APIGatewayServiceException({
  name: 'AccessDeniedException',
  $fault: 'client',
  message: 'denied',
  $metadata: { httpStatusCode: 403 },
});

afterAll(() => world.close());
beforeEach(() => {
  world.reset();
  isSentTwice = false;
  failing = '';
});

const record = async () => (await world.keys())[0];
const verdictOf = (text: string) => world.verdict(parsed(text));

describe('A write whose answer is lost, and that is sent again, is done once:', () => {
  beforeEach(() => {
    isSentTwice = true;
  });

  test.each([0, 3_600_000])('a rotation, with a grace of %d ms', async (graceMs) => {
    await issueSubject(world, 'open');
    const rotation = await rotateKey(target, 'subject', { label: 'main', graceMs });
    await rotation.confirmShown();

    expect(await verdictOf(rotation.key)).toBe('admitted');
    expect(Object.values((await record())?.tokens ?? {}).find(({ last }) => last === rotation.key.slice(-4))).toEqual(
      expect.objectContaining({ until: NEVER }),
    );
  });

  test('a creation', async () => {
    const created = await commands.create(target);
    expect((await world.keys()).map(({ keyId }) => keyId)).toEqual([created.id]);
  });

  test.each(['move to Pro', 'suspend', 'resume', 'revoke'] as const)('%s', async (command) => {
    await issueSubject(world, 'open');
    if (command === 'resume') await commands.suspend(target, 'subject');
    await commands[command](target, 'subject');

    expect(await record()).not.toHaveProperty('busy');
  });
});

test('An end at once is one by every clock, also where that of the admin is ahead', async () => {
  await issueSubject(world, 'open');
  const added = await addToken(target, 'subject', { label: 'reports', access: 'read' });
  await added.confirmShown();
  const { now } = Date;
  Date.now = () => now() + 600_000;
  try {
    await endToken(target, 'subject', 'reports');
  } finally {
    Date.now = now;
  }

  expect(await verdictOf(added.key)).toBe('denied');
});

test('A move that fails between the two plans keeps its mark, so that no sync closes the key', async () => {
  await issueSubject(world, 'open');
  failing = 'CreateUsagePlanKeyCommand';
  await expect(commands['move to Pro'](target, 'subject')).rejects.toThrow('run the same command again at');
  await sync(target);

  expect(await record()).toMatchObject({ enabled: true, busy: { by: 'move' } });
});

test('An ending whose tag cannot be written is done, and says what is left to do', async () => {
  await issueSubject(world, 'open');
  const messages: string[] = [];
  const notices = { ...target.notices, incomplete: (message: string) => void messages.push(message) };
  failing = 'TagResourceCommand';
  const rotation = await rotateKey({ ...target, notices }, 'subject', { label: 'main', graceMs: 0 });
  await rotation.confirmShown();

  expect(await verdictOf(rotation.key)).toBe('admitted');
  expect(messages).toEqual([expect.stringContaining('Run npm run admin -- keys sync')]);
});

test('A token that was never shown, and is replaced, has a time of ending, and is no last token', async () => {
  await issueSubject(world, 'open');
  await addToken(target, 'subject', { label: 'reports', access: 'read' });
  const before = (await record())?.tokensEndedAt ?? 0;
  await addToken(target, 'subject', { label: 'reports', access: 'read' });

  expect((await record())?.tokensEndedAt).toBeGreaterThan(before);
  await endToken(target, 'subject', 'app');
  await expect(endToken(target, 'subject', 'main')).rejects.toThrow('is the only token');
});

test('A suspension for a while makes none real that a wrong clock has set', async () => {
  const issued = await issueSubject(world, 'open');
  const suspendedUntil = Date.now() + 400 * 86_400_000;
  await target.keyTable.revise(issued, { suspendedUntil, suspendedByAdmin: false });
  await suspendKey(target, 'subject', 60_000);

  expect((await record())?.suspendedUntil).toBeLessThan(Date.now() + 120_000);
});
