import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addToken } from '../../../infra/admin/keys/new-token.ts';
import { findToken } from '../../../infra/admin/keys/key-view.ts';
import { revokeKey } from '../../../infra/admin/keys/revoke-key.ts';
import { rotateKey } from '../../../infra/admin/keys/rotate-key.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { commands, InProcessTarget, issueSubject, sync } from '../../support/in-process-target.ts';
import { parsed } from '../../support/tables.ts';

const world = new InProcessTarget();
const { target } = world;
afterAll(() => world.close());
beforeEach(() => world.reset());

const add = async (label: string) => {
  const token = await addToken(target, 'subject', { label, access: 'read' });
  await token.confirmShown();
  return token;
};

describe('A key', () => {
  test('has four tokens at most, and one more in its grace', async () => {
    await issueSubject(world, 'open');
    await add('third');
    await add('fourth');
    await expect(add('fifth')).rejects.toThrow('has 4 tokens, and can have no more. End one first.');

    await (await rotateKey(target, 'subject', { label: 'main', graceMs: 60_000 })).confirmShown();
    await expect(rotateKey(target, 'subject', { label: 'app', graceMs: 60_000 })).rejects.toThrow('has 5 tokens');
    // It ends the one that is in its grace, which makes room.
    await (await rotateKey(target, 'subject', { label: 'main', graceMs: 0 })).confirmShown();
    expect(Object.keys((await world.keys())[0]?.tokens ?? {})).toHaveLength(5);
  });

  test('gives a token that takes the place of one that was never shown no more than that one might do', async () => {
    await issueSubject(world, 'open');
    const until = Date.now() + 60_000;
    const lost = await addToken(target, 'subject', { label: 'reports', access: 'read', until });
    const rotated = await rotateKey(target, 'subject', { label: 'reports', graceMs: 60_000 });

    expect(rotated).toMatchObject({ access: 'read', expires: new Date(until).toISOString() });
    expect(Date.parse(rotated.graceEnds)).toBeLessThanOrEqual(Date.now());
    await expect(lost.confirmShown()).rejects.toThrow('has replaced or ended this token');
  });

  test('without a record gets one with a new token of the same handle', async () => {
    const { recordId } = await issueSubject(world, 'open');
    const { id, value = '', ...rest } = world.records.apiKeys[0] ?? { id: '' };
    world.reset();
    if ('createdAt' in rest) world.records.putApiKey({ id, value, ...rest });
    world.records.putOnPlan('free', id);
    const token = await rotateKey(target, id, { label: 'main', graceMs: 0 });
    await token.confirmShown();

    expect(parsed(token.key).recordId).toBe(recordId);
    expect(await world.verdict(parsed(token.key))).toBe('admitted');
    expect((await world.keys())[0]?.tokens).toMatchObject({
      [parsed(token.key).hash]: { until: NEVER, label: 'main' },
    });
  });
});

test.each([
  ['rotate', 'rotated'],
  ['add', 'given another'],
  ['end', 'ended alone'],
] as const)('%s changes nothing of a key from the AWS console, and says what to do instead', async (name, what) => {
  const id = 'by-hand';
  world.records.putApiKey(anApiKey({ id, value: 'a-value-of-twenty-characters' }));
  world.records.putOnPlan('free', id);
  await sync(target);
  const before = { keys: await world.keys(), apiKeys: world.records.apiKeys };

  await expect(commands[name](target, id)).rejects.toThrow(
    `The key by-hand was made in the AWS console: its value is its only token, so it cannot be ${what}. ` +
      'Create one with npm run admin -- keys create, and revoke this one when its client has the new one.',
  );
  expect(before.keys).toMatchObject([{ keyId: id }]);
  expect({ keys: await world.keys(), apiKeys: world.records.apiKeys }).toEqual(before);
});

test('A token is found by its handle, whether it works or not', async () => {
  const record = await issueSubject(world, 'open');
  const { key } = await add('reports');
  expect(await findToken(target, ` ${key}\n`)).toMatchObject({ key: { id: 'subject' }, token: { label: 'reports' } });
  expect(await findToken(target, generateToken(record.recordId))).toMatchObject({ token: null });
  await expect(findToken(target, `${key}x`)).rejects.toThrow('mistyped, or cut off');
  await expect(findToken(target, generateToken())).rejects.toThrow('another stage, or its key is gone');
  await revokeKey(target, record);
  await expect(findToken(target, key)).rejects.toThrow('It is of acme (subject), which was revoked.');
});
