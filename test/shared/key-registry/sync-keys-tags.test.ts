import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

let registry: KeyRegistry;

beforeAll(async () => {
  registry = await KeyRegistry.start();
});

afterEach(() => registry.clear());

afterAll(() => registry.close());

const read = ({ keyHash }: KeyRecord) => registry.table.get(keyHash);

describe('a usage plan of one Enterprise customer, made by hand', () => {
  const agreed = { 'per-minute': '900', 'per-day': '5000' };
  const limits = { plan: 'enterprise', perMinute: 900, perDay: 5_000 };

  test.each([
    ['with the tag plan', { plan: 'enterprise', ...agreed }],
    ['with its limits alone', agreed],
  ])('%s gives its limits to the keys on it', async (_, tags) => {
    const planId = await registry.createPlan(tags);
    const keyId = await registry.createKey({}, planId);

    expect(await registry.sync()).toMatchObject({ ...nothing, added: [keyId] });
    expect(await registry.recordOf(keyId)).toMatchObject(limits);
  });

  test('gives all its keys other limits once its tags are edited, and their counters stay', async () => {
    const planId = await registry.createPlan(agreed);
    const keys = [await registry.usedKey({}, planId), await registry.usedKey({}, planId)];
    await registry.tag('usageplans', planId, { 'per-minute': '901' });
    const { changed, ...rest } = await registry.sync();

    expect(new Set(changed)).toEqual(new Set(keys.map(({ keyId }) => keyId)));
    expect(rest).toMatchObject({ added: [], disabled: [], conflicts: [], problems: [] });
    for (const key of keys) {
      expect(await read(key)).toEqual({ ...key, perMinute: 901, revision: key.revision + 1 });
    }
  });
});

describe('a key on the Enterprise plan of the catalogue', () => {
  test('has the limits in its own tags, and others once they are edited', async () => {
    const tags = { 'per-minute': '900', 'per-day': '5000' };
    const key = await registry.usedKey({ tags }, registry.plan('enterprise'));
    await registry.tag('apikeys', key.keyId, { 'per-day': '6000' });

    expect(key).toMatchObject({ plan: 'enterprise', perMinute: 900, perDay: 5_000 });
    expect(await registry.sync()).toMatchObject({ ...nothing, changed: [key.keyId] });
    expect(await read(key)).toEqual({ ...key, perDay: 6_000, revision: key.revision + 1 });
  });
});

type Tags = Readonly<Record<string, string | undefined>>;

describe('a key with wrong tags stays as it is, or out, and a problem says why:', () => {
  test.each<[string, 'free' | 'enterprise', Tags, Tags]>([
    ['has a tag expires that is no ISO 8601 date', 'free', {}, { expires: 'tomorrow' }],
    ['has a tag expires that is no ISO 8601 date', 'free', { expires: '2031-01-01' }, { expires: '2031-02-30' }],
    ['was replaced by no-such-key, which is gone', 'free', {}, { 'replaced-by': 'no-such-key' }],
    [
      'is on the Enterprise plan without agreed limits: tag it, or its plan',
      'enterprise',
      { 'per-minute': '9', 'per-day': '9' },
      { 'per-minute': undefined, 'per-day': undefined },
    ],
    [
      'needs both tags per-minute and per-day, as numbers from 1',
      'enterprise',
      { 'per-minute': '9', 'per-day': '9' },
      { 'per-minute': undefined },
    ],
    [
      'needs both tags per-minute and per-day, as numbers from 1',
      'enterprise',
      { 'per-minute': '9', 'per-day': '9' },
      { 'per-day': '1,000' },
    ],
  ])('it %s', async (problem, plan, good, bad) => {
    const key = await registry.usedKey({ tags: given(good) }, registry.plan(plan));
    await registry.tag('apikeys', key.keyId, bad);
    const newKey = await registry.createKey({ tags: given({ ...good, ...bad }) }, registry.plan(plan));
    const { problems, ...rest } = await registry.sync();

    expect(new Set(problems)).toEqual(new Set([key.keyId, newKey].map((keyId) => `The key ${keyId} ${problem}.`)));
    expect(rest).toMatchObject({ added: [], changed: [], disabled: [], removed: [], conflicts: [] });
    expect(await registry.records()).toEqual([key]);
    expect(await registry.sync()).toMatchObject({ ...nothing, problems: expect.arrayContaining(problems) });

    const back = { ...Object.fromEntries(Object.keys(bad).map((name) => [name, undefined])), ...good };
    for (const keyId of [key.keyId, newKey]) await registry.tag('apikeys', keyId, back);
    expect(await registry.sync()).toMatchObject({ ...nothing, added: [newKey] });
    expect(await read(key)).toEqual(key);
  });

  test('it was replaced by itself', async () => {
    const key = await registry.usedKey();
    await registry.tag('apikeys', key.keyId, { 'replaced-by': key.keyId });
    const problem = `The key ${key.keyId} was replaced by itself, says its tag.`;

    expect(await registry.sync()).toMatchObject({ ...nothing, problems: [problem] });
  });
});

const given = (tags: Tags): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));

describe('a usage plan that allows less than the limits of its keys is a problem, and its keys are let in:', () => {
  const needs = 'allows less than its limits: it needs a rate of 1, a burst of 120, a quota of 1060 a DAY';
  const throttle = { rateLimit: 1, burstLimit: 120 };

  test.each([
    ['its rate', { throttle: { ...throttle, rateLimit: 0.5 } }],
    ['its burst', { throttle: { ...throttle, burstLimit: 60 } }],
    ['its quota', { throttle, quota: { limit: 1_059, period: 'DAY' as const } }],
  ])('%s', async (_, settings) => {
    const planId = await registry.createPlan({ plan: 'free' }, { name: 'Small', ...settings });
    const keyId = await registry.createKey({}, planId);

    expect(await registry.sync()).toMatchObject({
      ...nothing,
      added: [keyId],
      problems: [`The usage plan Small ${needs}.`],
    });
    expect(await registry.sync()).toMatchObject({ ...nothing, problems: [`The usage plan Small ${needs}.`] });
  });
});
