import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findToken, showKey } from '../../../infra/admin/keys/key-view.ts';
import { addToken, endToken, rotateKey } from '../../../infra/admin/keys/tokens.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { type KeyRecord, NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { commands, InProcessTarget, issueSubject, nameLabeled, shown } from '../../support/in-process-target.ts';
import { nameOf, parsed } from '../../support/tables.ts';

const world = new InProcessTarget();
const { target } = world;

/** Whether every write of the table is sent twice, as the SDK does where the response to the first was lost. */
let isSentTwice = false;

target.documents.middlewareStack.add(
  (next, { commandName = '' }) =>
    async (args) => {
      if (isSentTwice && /Put|Update/.test(commandName)) await next(args);
      return next(args);
    },
  { step: 'initialize' },
);
afterAll(() => world.close());
beforeEach(() => {
  world.reset();
  isSentTwice = false;
});

const order = { label: 'reports', access: 'read' } as const;
const add = (label: string) => shown(addToken(target, 'subject', { ...order, label }));
const rotate = (label: string, graceMs: number) => shown(rotateKey(target, 'subject', { label, graceMs }));
const record = async (): Promise<KeyRecord | undefined> => (await world.keys())[0];
async function byAClockAhead<Result>(act: () => Promise<Result>): Promise<Result> {
  const { now } = Date;
  Date.now = () => now() + 600_000;
  try {
    return await act();
  } finally {
    Date.now = now;
  }
}
const verdictOf = ({ key }: { readonly key: string }) => world.verdict(parsed(key));

test('a key has at most four tokens, and one more in its grace', async () => {
  await issueSubject(world, 'open');
  await add('third');
  await add('fourth');
  await expect(add('fifth')).rejects.toThrow('has 4 tokens, the maximum. Revoke one first.');
  await expect(add('third')).rejects.toThrow('already has a token third. Choose another label, or rotate that token.');

  await rotate('main', 60_000);
  await expect(rotate('app', 60_000)).rejects.toThrow('has 5 valid tokens');
  // It ends the one that is in its grace, which makes room.
  await rotate('main', 0);
  expect(Object.keys((await record())?.tokens ?? {})).toHaveLength(5);
});

describe('a token that was never shown', () => {
  test('is replaced with the same access and expiry', async () => {
    await issueSubject(world, 'open');
    const until = Date.now() + 60_000;
    const lost = await addToken(target, 'subject', { ...order, until });
    const rotated = await rotateKey(target, 'subject', { label: 'reports', graceMs: 60_000 });

    expect(rotated).toMatchObject({ access: 'read', expires: new Date(until).toISOString() });
    expect(Date.parse(rotated.graceEnds)).toBeLessThanOrEqual(Date.now());
    await expect(lost.confirmShown()).rejects.toThrow('has replaced or revoked this token');
    expect(await verdictOf(lost)).toBe('denied');
  });

  test('does not count as the last valid token', async () => {
    const subject = await issueSubject(world, 'open');
    await addToken(target, 'subject', order);
    await endToken(target, 'subject', nameLabeled(subject, 'app'));

    await expect(endToken(target, 'subject', nameLabeled(subject, 'main'))).rejects.toThrow('is the only token');
  });
});

test.each([
  ['rotate', 'rotated'],
  ['add', 'extended'],
  ['end', 'revoked alone'],
] as const)('%s refuses a key from the AWS console with a remedy', async (name, what) => {
  world.records.putApiKey(anApiKey({ id: 'by-hand', value: 'a-value-of-twenty-characters', planId: 'free' }));
  await syncKeys(target);
  const before = { keys: await world.keys(), apiKeys: world.records.apiKeys };

  await expect(commands[name](target, 'by-hand')).rejects.toThrow(
    `Its value is its only token, so it cannot be ${what}. Create a key with npm run admin -- keys create, and revoke this one`,
  );
  expect(before.keys).toMatchObject([{ keyId: 'by-hand' }]);
  expect({ keys: await world.keys(), apiKeys: world.records.apiKeys }).toEqual(before);
});

test('a token is found by its handle, valid or not', async () => {
  const subject = await issueSubject(world, 'open');
  const { key } = await add('reports');
  expect(await findToken(target, ` ${key}\n`)).toMatchObject({ key: { id: 'subject' }, token: { label: 'reports' } });
  expect(await findToken(target, generateToken(subject.recordId))).toMatchObject({ token: null });
  await expect(findToken(target, `${key}x`)).rejects.toThrow('mistyped or truncated');
  await expect(findToken(target, generateToken())).rejects.toThrow('another stage, or its key was deleted');
  await commands.revoke(target, 'subject');
  expect(await findToken(target, key)).toMatchObject({ key: { id: 'subject', state: 'revoked' }, token: null });
});

describe('a write that is sent again after a lost response is applied once:', () => {
  beforeEach(() => {
    isSentTwice = true;
  });

  test.each([0, 3_600_000])('a rotation, with a grace of %d ms', async (graceMs) => {
    await issueSubject(world, 'open');
    const rotation = await rotate('main', graceMs);

    expect(await verdictOf(rotation)).toBe('admitted');
    expect((await record())?.tokens[parsed(rotation.key).hash]).toMatchObject({ until: NO_EXPIRY });
  });

  test('a creation', async () => {
    const created = await commands.create(target);
    expect((await world.keys()).map(({ keyId }) => keyId)).toEqual([created.id]);
  });

  test.each(['move to Pro', 'resume', 'revoke'] as const)('%s', async (command) => {
    await issueSubject(world, command === 'resume' ? 'suspended' : 'open');
    await commands[command](target, 'subject');

    expect(await record()).not.toHaveProperty('unappliedSince');
  });
});

describe('of a token in its grace and its replacement', () => {
  test.each(['the old one', 'the new one'])('%s alone is revoked', async (which) => {
    const subject = await issueSubject(world, 'open');
    const old = nameLabeled(subject, 'main');
    const rotation = await rotate('main', 60_000);
    const [ended, left] = which === 'the old one' ? [old, nameOf(rotation)] : [nameOf(rotation), old];
    await endToken(target, 'subject', ended);

    const names = (await showKey(target, 'subject')).tokens.map(({ name }) => name);
    expect(names.toSorted()).toEqual([left, nameLabeled(subject, 'app')].toSorted());
    expect(await verdictOf(rotation)).toBe(which === 'the old one' ? 'admitted' : 'denied');
  });

  test('none is revoked by their common label', async () => {
    const subject = await issueSubject(world, 'open');
    const names = [nameLabeled(subject, 'main'), nameOf(await rotate('main', 60_000))];
    const before = await record();
    const ending = endToken(target, 'subject', 'main');

    await expect(ending).rejects.toThrow('The key subject has no valid token main. Its tokens: ');
    for (const name of names) await expect(ending).rejects.toThrow(name);
    expect(await record()).toEqual(before);
  });
});

test('a revocation takes effect immediately, even if the clock of the admin is ahead', async () => {
  await issueSubject(world, 'open');
  const added = await add('reports');
  await byAClockAhead(() => endToken(target, 'subject', nameOf(added)));

  expect(await verdictOf(added)).toBe('denied');
});

test('a rotation replaces the last token of its label, even after one by a clock ahead', async () => {
  await issueSubject(world, 'open');
  await byAClockAhead(() => rotate('main', 0));
  const { expires } = await rotate('main', 60_000);

  expect(await rotate('main', 0)).toMatchObject({ expires });
});
