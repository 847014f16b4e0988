import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import { isoTime } from '../../../shared/key-registry/gateway-tags.ts';
import { readApiKey, valueOf } from '../../../shared/key-registry/registered-key.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';

const HASH = hashApiKey('a key of ours');
const SUCCESSOR = hashApiKey('its successor');
const CREATED = new Date('2026-03-04T05:06:07.890Z');
const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

const free: CustomerPlan = {
  usagePlanId: 'pl4n1d',
  name: 'Free',
  plan: 'free',
  limits: { perMinute: 60, perDay: 1_000 },
  isOwn: false,
};
/** The Enterprise plan of the catalogue: each key on it has its own limits. */
const enterprise: CustomerPlan = { ...free, plan: 'enterprise', limits: undefined };
const tags = { 'per-minute': '5000', 'per-day': '1000000' };

/** A key on the Free plan that we issued, except for what the test says. */
const read = (differences: ApiKey = {}, plan = free) =>
  readApiKey(
    { id: 'k3y1d', name: 'acme', value: HASH, enabled: true, createdDate: CREATED, ...differences },
    plan,
    (keyId) => (keyId === 'n3w1d' ? SUCCESSOR : undefined),
  );

test('A key of API Gateway is known by its hash, on the plan and with the limits of its usage plan', () => {
  expect(read()).toEqual({
    identity: {
      keyHash: HASH,
      usageIdentifier: 'hash',
      keyId: 'k3y1d',
      name: 'acme',
      plan: 'free',
      perMinute: 60,
      perDay: 1_000,
      enabled: true,
      createdAt: CREATED.getTime(),
    },
  });
});

test.each([HASH, CONSOLE_VALUE, 'a'.repeat(63)])(
  'The value of a key is a hash, or what was made in the console: %s',
  (value) => {
    const expected =
      value === HASH
        ? { keyHash: HASH, usageIdentifier: 'hash' }
        : { keyHash: hashApiKey(value), usageIdentifier: 'token' };

    expect(valueOf(value)).toEqual(expected);
    expect(read({ value })).toMatchObject({ identity: expected });
  },
);

describe('a key has', () => {
  const ofPlan = { ...enterprise, limits: { perMinute: 2_000, perDay: 200_000 } };

  test.each<[string, ReturnType<typeof read>, object]>([
    ['a name of 100 characters', read({ name: 'n'.repeat(100) }), { name: 'n'.repeat(100) }],
    ['a longer name cut to 100', read({ name: 'n'.repeat(101) }), { name: `${'n'.repeat(99)}…` }],
    ['no half of a character at the cut', read({ name: `${'n'.repeat(98)}🐾🐾` }), { name: `${'n'.repeat(98)}…` }],
    [
      'the limits of the catalogue, whatever its tags are',
      read({ tags }),
      { plan: 'free', perMinute: 60, perDay: 1_000 },
    ],
    [
      'the limits of its usage plan, whatever its tags are',
      read({ tags }, ofPlan),
      { perMinute: 2_000, perDay: 200_000 },
    ],
    ['its own limits where the plan has none', read({ tags }, enterprise), { perMinute: 5_000, perDay: 1_000_000 }],
    ['an end', read({ tags: { expires: '2031-02-03' } }), { expiresAt: Date.UTC(2031, 1, 3) }],
    ['a successor', read({ tags: { 'replaced-by': 'n3w1d' } }), { keyHash: HASH, replacedBy: SUCCESSOR }],
  ])('%s', (_, registered, identity) => {
    expect(registered).toMatchObject({ identity });
  });
});

const NO_TOKEN = 'has a value that no bearer token can have';

describe('a key is not let in', () => {
  test.each<[string, ReturnType<typeof read>, string]>([
    ['whose value is short', read({ value: 'a'.repeat(19) }), NO_TOKEN],
    ['whose value is a hash in upper case', read({ value: HASH.toUpperCase() }), NO_TOKEN],
    ['whose value has a wrong checksum', read({ value: `psk_${'a'.repeat(46)}` }), NO_TOKEN],
    [
      'without agreed limits',
      read({}, enterprise),
      'is on the Enterprise plan without agreed limits: tag it, or its plan',
    ],
    ['whose end is a word', read({ tags: { expires: 'tomorrow' } }), 'has a tag expires that is no ISO 8601 date'],
    ['whose successor is gone', read({ tags: { 'replaced-by': '0ld1d' } }), 'was replaced by 0ld1d, which is gone'],
    ['that is its own successor', read({ tags: { 'replaced-by': 'k3y1d' } }), 'was replaced by itself, says its tag'],
  ])('%s', (_, registered, problem) => {
    expect(registered).toEqual({ problem });
  });
});

test.each([
  ['2031-02-03', '2031-02-03T00:00:00.000Z'],
  ['2031-02-03T04:05Z', '2031-02-03T04:05:00.000Z'],
  ['2031-02-03T04:05:06.789Z', '2031-02-03T04:05:06.789Z'],
  ['2031-02-03T04:05:06+01:00', '2031-02-03T03:05:06.000Z'],
])('The ISO 8601 text %s is %s', (text, time) => {
  expect(isoTime(text)).toBe(Date.parse(time));
});

test.each([
  '2031-02-03T04:05:06',
  '2031-02-03T04:05:06+0100',
  '2031-02-03T04:05:06.7890Z',
  '2031-02-03\n',
  '2031-02-29',
  '2031-02-30T04:05:06Z',
  '2031-02-03T04:05:06+24:00',
])('No ISO 8601 text that means the same everywhere is %j', (text) => {
  expect(isoTime(text)).toBeNaN();
});
