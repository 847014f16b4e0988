import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findKey, findRecord } from '../../../infra/admin/keys/find-key.ts';
import { showKey } from '../../../infra/admin/keys/key-view.ts';
import { RESTORED } from '../../../shared/key-registry/reconcile.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

const world = new InProcessTarget();
const { target } = world;

beforeEach(() => world.reset());
afterAll(() => world.close());

const put = (keyId: string | undefined, name: string, state: object = {}) =>
  target.keyTable.add(aKey({ keyId, name, ...state }));
const REVOKED = { revoked: true, enabled: false };

describe('A key is found', () => {
  test.each(['k1', 'Acme Pets', ' acme pets'])('by its id, or its name in any case: %s', async (text) => {
    await put('k1', 'Acme Pets');
    await put('old', 'Acme Pets', REVOKED);
    await put('k2', 'Beta');

    expect(await findKey(target, text)).toMatchObject({ keyId: 'k1' });
  });

  test('by the id of its record, also before API Gateway has given it another', async () => {
    const record = await put(undefined, 'Acme Pets');

    expect(await findKey(target, record?.recordId ?? '')).toEqual(record);
  });

  test('as soon as it was made in the AWS console, and gets its record', async () => {
    world.records.putApiKey(anApiKey({ id: 'by-hand', name: 'by hand', value: 'a-value-of-twenty-characters' }));
    await expect(findKey(target, 'by-hand')).rejects.toThrow('The key by-hand is on no usage plan of this service.');
    world.records.putOnPlan('free', 'by-hand');

    expect(await findKey(target, 'by-hand')).toMatchObject({ keyId: 'by-hand', plan: 'free' });
  });

  test('with what API Gateway has of it, where its record came back with an older copy', async () => {
    const record = aKey({ name: 'Acme Pets', plan: 'free', keyId: undefined, unappliedSince: RESTORED });
    await target.keyTable.add(record);
    world.records.putApiKey(anApiKey({ id: 'k1', name: 'Acme Pets', value: record.recordId }));
    world.records.putOnPlan('pro', 'k1');

    expect(await findKey(target, 'acme pets')).toMatchObject({ keyId: 'k1', plan: 'pro' });
  });
});

test.each(['k1', 'Acme'])(
  'A revoked key is shown, by its id and its name, and no command changes it: %s',
  async (text) => {
    await put('k1', 'Acme', REVOKED);

    expect(await showKey(target, text)).toMatchObject({ id: 'k1', state: 'revoked' });
    expect(await findRecord(target, text)).toMatchObject({ keyId: 'k1', revoked: true });
    await expect(findKey(target, text)).rejects.toThrow('The key k1 was revoked.');
  },
);

test.each([
  ['that several have', 'acme', '4 keys have the name acme. Name one by its id: '],
  ['that none has', 'Beta Pest', 'There is no key Beta Pest. List the ids with:'],
  ['that is empty', ' ', 'There is no key without a name.'],
])('A name %s is refused, with what to do', async (_, text, message) => {
  for (const id of ['a1', 'a2', 'a3', 'a4']) await put(id, 'Acme');

  await expect(findKey(target, text)).rejects.toThrow(message);
});
