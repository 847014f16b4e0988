import { describe, expect, test } from '@jest/globals';
import { findToken, showKey } from '../../../infra/admin/keys/key-view.ts';
import { addToken, endToken, rotateKey } from '../../../infra/admin/keys/tokens.ts';
import { syncKeys } from '../../../shared/key-registry/key-sync.ts';
import { NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { commands, issueSubject, nameLabeled, shown } from '../../support/in-process-target.ts';
import { nameOf, parsed } from '../../support/tables.ts';
import { AdminService, HOUR_MS, MINUTE_MS, NOW } from './admin-service.ts';

const service = new AdminService();
const { world, target, clock } = service;

const order = { label: 'reports', access: 'read' } as const;
const add = (label = 'reports') => shown(addToken(target, 'subject', { ...order, label }));
const rotate = (label: string, graceMs: number) => shown(rotateKey(target, 'subject', { label, graceMs }));
const verdictOf = ({ token }: { readonly token: string }) => world.verdict(parsed(token));
const tokenNames = async () => (await showKey(target, 'subject')).tokens.map(({ name }) => name);

async function byAClockAhead(act: () => Promise<unknown>): Promise<void> {
  clock.moveTo(NOW + 10 * MINUTE_MS);
  await act();
  clock.moveTo(NOW);
}

test('A key has at most four tokens, and one more within a grace period', async () => {
  const subject = await issueSubject(world, 'open');
  await add('third');
  await add('fourth');
  await expect(add('fifth')).rejects.toThrow('has 4 tokens, the maximum. Revoke one first.');
  await expect(add('third')).rejects.toThrow('already has a token third. Choose another label, or rotate that token.');

  const replacement = nameOf(await rotate('main', MINUTE_MS));
  await expect(rotate('app', MINUTE_MS)).rejects.toThrow('has 5 valid tokens');
  // It revokes the one within its grace period, which makes room.
  expect(await rotate('main', 0)).toMatchObject({ replaces: [nameLabeled(subject, 'main'), replacement] });
  expect(Object.keys((await service.record()).tokens)).toHaveLength(5);
  clock.moveTo(NOW + 1);
  await rotate('app', 0);
  expect(await tokenNames()).toHaveLength(4);
});

describe('a token that was never shown', () => {
  test('is replaced by the next rotation, with the same access and expiry', async () => {
    await issueSubject(world, 'open');
    const until = NOW + MINUTE_MS;
    const lost = await addToken(target, 'subject', { ...order, until });
    const rotated = await rotateKey(target, 'subject', { label: 'reports', graceMs: MINUTE_MS });

    expect(rotated).toMatchObject({ access: 'read', expires: new Date(until).toISOString() });
    expect(Date.parse(rotated.graceEnds)).toBe(NOW);
    await expect(lost.confirmShown()).rejects.toThrow('has replaced or revoked this token');
    expect(await verdictOf(lost)).toBe('denied');
  });

  test('is not replaced by a command on another label', async () => {
    await issueSubject(world, 'open');
    const added = await addToken(target, 'subject', order);
    await rotate('main', 0);
    await added.confirmShown();

    expect(await verdictOf(added)).toBe('admitted');
  });

  test('does not count as a second token: the only other one cannot be revoked', async () => {
    const subject = await issueSubject(world, 'open');
    await addToken(target, 'subject', order);
    await endToken(target, 'subject', nameLabeled(subject, 'app'));

    await expect(endToken(target, 'subject', nameLabeled(subject, 'main'))).rejects.toThrow('is the only token');
  });
});

test('A grace period extends no token beyond its own expiry', async () => {
  await issueSubject(world, 'open');
  const until = NOW + MINUTE_MS;
  const old = await shown(addToken(target, 'subject', { ...order, until }));

  expect(await rotate('reports', HOUR_MS)).toMatchObject({ graceEnds: new Date(until).toISOString() });
  clock.moveTo(until - 1);
  expect(await verdictOf(old)).toBe('admitted');
  clock.moveTo(until);
  expect(await verdictOf(old)).toBe('denied');
});

test.each(['rotate', 'add', 'end'] as const)('%s rejects a key from the AWS console, and says why', async (name) => {
  world.records.putApiKey(anApiKey({ id: 'by-hand', value: 'a-value-of-twenty-characters', planId: 'free' }));
  await syncKeys(target);
  const before = await world.keys();

  await expect(commands[name](target, 'by-hand')).rejects.toThrow(
    'Its value is its only token, which cannot be changed. Create a key with npm run admin -- keys create, and revoke this one',
  );
  expect(await world.keys()).toEqual(before);
});

test('A key is found by a token, also by one that is not valid', async () => {
  const subject = await issueSubject(world, 'open');
  const { token } = await add();
  expect(await findToken(target, ` ${token}\n`)).toMatchObject({ key: { id: 'subject' }, token: { label: 'reports' } });
  expect(await findToken(target, generateToken(subject.recordId))).toMatchObject({ token: null });
  await expect(findToken(target, `${token}x`)).rejects.toThrow('mistyped or truncated');
  await expect(findToken(target, generateToken())).rejects.toThrow('another stage, or its key was deleted');
  await commands.revoke(target, 'subject');
  expect(await findToken(target, token)).toMatchObject({ key: { id: 'subject', state: 'revoked' }, token: null });
});

/** Runs a command, each of whose writes of a table is repeated. */
const repeated = <Result>(act: () => Promise<Result>): Promise<Result> =>
  world.run(act, async (perform, name) => {
    if (/^(?:Put|Update)Item/.test(name)) await perform();
    return perform();
  });

describe('A write that is repeated after a lost response takes effect once:', () => {
  test.each([0, HOUR_MS])('a rotation with a grace period of %d ms', async (graceMs) => {
    await issueSubject(world, 'open');
    const rotation = await repeated(() => rotate('main', graceMs));

    expect(await verdictOf(rotation)).toBe('admitted');
    expect((await service.record()).tokens[parsed(rotation.token).hash]).toMatchObject({ until: NO_EXPIRY });
  });

  test('a creation', async () => {
    const { id } = await repeated(() => commands.create(target));
    expect(await world.keys()).toMatchObject([{ keyId: id }]);
  });

  test.each(['move to Pro', 'resume', 'revoke'] as const)('%s', async (name) => {
    await issueSubject(world, name === 'resume' ? 'suspended' : 'open');
    await repeated<unknown>(() => commands[name](target, 'subject'));

    expect(await service.record()).not.toHaveProperty('unappliedSince');
  });
});

describe('Within a grace period', () => {
  test.each(['old', 'new'])('the %s token can be revoked alone', async (which) => {
    const subject = await issueSubject(world, 'open');
    const old = nameLabeled(subject, 'main');
    const rotation = await rotate('main', MINUTE_MS);
    const [ended, left] = which === 'old' ? [old, nameOf(rotation)] : [nameOf(rotation), old];
    await endToken(target, 'subject', ended);

    expect((await tokenNames()).toSorted()).toEqual([left, nameLabeled(subject, 'app')].toSorted());
    expect(await verdictOf(rotation)).toBe(which === 'old' ? 'admitted' : 'denied');
  });

  test('a label that two tokens share revokes neither; the failure names all tokens, oldest first', async () => {
    const subject = await issueSubject(world, 'open');
    clock.moveTo(NOW + 1);
    const names = ['main', 'app'].map((label) => nameLabeled(subject, label));
    const all = [...names, nameOf(await rotate('main', MINUTE_MS))].join(', ');
    const before = await service.record();

    await expect(endToken(target, 'subject', 'main')).rejects.toThrow(
      `The key subject has no valid token main. Its tokens: ${all}`,
    );
    expect(await service.record()).toEqual(before);
  });
});

describe('If the clock of an admin is ahead', () => {
  test('a revoked token is denied immediately', async () => {
    await issueSubject(world, 'open');
    const added = await add();
    await byAClockAhead(() => endToken(target, 'subject', nameOf(added)));

    expect(await verdictOf(added)).toBe('denied');
  });

  test('a later rotation by another admin still replaces the newest token', async () => {
    await issueSubject(world, 'open');
    await byAClockAhead(() => rotate('main', 0));
    const { token } = await rotate('main', MINUTE_MS);

    expect(await rotate('main', 0)).toMatchObject({
      replaces: expect.arrayContaining([nameOf({ label: 'main', token })]),
    });
  });
});
