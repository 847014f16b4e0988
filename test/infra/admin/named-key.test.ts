import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keyIdOf, namedKey } from '../../../infra/admin/keys/named-key.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

const world = new InProcessTarget();
const { target } = world;

beforeAll(async () => {
  world.reset();
  const names = { acme: 'Acme Pets', 'twin-1': 'Twin', 'twin-2': 'Twin', gone: 'Gone', new: 'Gone' };
  for (const [keyId, name] of Object.entries(names))
    await world.issue({ ...aKey({ keyId, name, revoked: keyId === 'gone' }), recordId: keyId }, 'free');
  await world.issue({ ...aKey({ keyId: 'ended', name: 'Ended', revoked: true }), recordId: 'ended' }, 'free');
  for (const id of ['gone', 'ended']) world.records.deleteApiKey(id);
});
afterAll(() => world.close());

test.each([
  ['its id', 'acme', 'acme'],
  ['its name, in any case', 'acme PETS', 'acme'],
  ['a name that a revoked key has too', 'Gone', 'new'],
])('A key goes by %s', async (_, text, id) => {
  expect(await keyIdOf(target, text)).toBe(id);
});

test.each([
  ['that several have', 'twin', '2 keys have the name twin. Name one by its id: twin-1, twin-2'],
  ['with a typo', 'Acme Pest', 'There is no key Acme Pest. Did you mean Acme Pets (acme)? List the ids with:'],
  ['of which it is a part', 'pets', 'There is no key pets. Did you mean Acme Pets (acme)?'],
  ['that none is like', 'zebra', 'There is no key zebra. List the ids with:'],
  ['of a revoked key', 'Ended', 'The key ended was revoked.'],
  ['that is empty', ' ', 'There is no key without a name.'],
])('A name %s is refused, with what to do', async (_, text, message) => {
  await expect(keyIdOf(target, text)).rejects.toThrow(message);
});

test('A revoked key can be named where that is meant', async () => {
  for (const text of ['ended', 'Ended']) expect(await namedKey(target, text)).toEqual({ id: 'ended', revoked: true });
});
