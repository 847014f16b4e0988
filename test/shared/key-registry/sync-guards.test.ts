import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { idOf } from '../../../shared/keys/key-record.ts';
import { did, KeyRegistry } from './key-registry.ts';

let registry: KeyRegistry;

beforeEach(() => {
  registry = new KeyRegistry();
});

afterEach(() => registry.close());

describe('Many keys that seem to be gone', () => {
  test.each<[string, (id: string) => void]>([
    ['off their plan', (id) => registry.move(id)],
    ['from API Gateway', (id) => registry.records.deleteApiKey(id)],
  ])('%s are closed up to ten, and beyond by an admin only', async (_, lose) => {
    const ids = Array.from({ length: 21 }, () => registry.putKey({}, 'free'));
    await registry.sync();
    for (const id of ids.slice(0, 10)) lose(id);
    expect((await registry.sync()).closed.toSorted()).toEqual(ids.slice(0, 10).toSorted());

    for (const id of ids.slice(10)) lose(id);
    const problems = [expect.stringMatching(/^11 of 11 open keys .* keys sync --force/)];
    expect(await registry.did()).toEqual(did({ problems }));
    expect((await registry.sync({ force: true })).closed.toSorted()).toEqual(ids.slice(10).toSorted());
  });

  test('as a plan of the catalogue is missing stay as they are, even by the word of an admin', async () => {
    const key = await registry.usedKey({}, 'pro');
    registry.records.plans.delete('pro');

    const problems = ['The stage has no usage plan tagged plan=pro.'];
    expect(await registry.did({ force: true })).toEqual(did({ problems }));
    expect(await registry.read(key)).toEqual(key);
  });
});

test('A record that is not in order is one problem, and stays as it is', async () => {
  const [key, other] = [await registry.usedKey(), await registry.usedKey()];
  await registry.put({ ...key, enabled: 'yes' });
  for (const each of [key, other]) registry.update(idOf(each), { name: 'renamed' });

  const problem = expect.stringMatching(
    new RegExp(`^The key ${key.keyId} has a record in the table .* enabled: Invalid`),
  );
  expect(await registry.did()).toEqual(did({ changed: [other.keyId], problems: [problem] }));
});
