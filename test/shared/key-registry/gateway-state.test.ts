import { createHash } from 'node:crypto';
import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import { isoTime } from '../../../shared/key-registry/gateway-tags.ts';
import { readGatewayKey, recordIdOf, shortOfKeys } from '../../../shared/key-registry/gateway-state.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { parsed } from '../../support/tables.ts';

const ISSUED = parsed(generateToken()).recordId;
const CREATED = new Date('2026-03-04T05:06:07.890Z');
const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

const NO_TOKEN = 'has a value that no key can have: delete it, and create one with npm run admin -- keys create';
const BAD_LIMITS = 'needs both tags per-minute and per-day, as numbers from 1';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const free: CustomerPlan = {
  usagePlanId: 'pl4n1d',
  plan: 'free',
  limits: { perMinute: 60, perDay: 1_000 },
};
/** The Enterprise plan of the catalogue: each key on it has its own limits. */
const enterprise: CustomerPlan = { ...free, plan: 'enterprise', limits: 'agreed' };
const tags = { 'per-minute': '5000', 'per-day': '1000000' };

/** A key on the Free plan that we issued, except for what the test says. */
const read = (differences: ApiKey = {}, plan = free) =>
  readGatewayKey(
    { id: 'k3y1d', name: 'acme', value: ISSUED, enabled: true, createdDate: CREATED, ...differences },
    plan,
  );

test('A key of API Gateway is known by its value, on the plan and with the limits of its usage plan', () => {
  expect(read()).toEqual({
    identity: {
      recordId: ISSUED,
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

test.each<[string, string, string | undefined]>([
  ['of a key that the admin command has made', ISSUED, ISSUED],
  ['made in the console', CONSOLE_VALUE, sha256(CONSOLE_VALUE)],
  ['almost that of an issued key', `${ISSUED}x`, sha256(`${ISSUED}x`)],
  ['that is a whole token', generateToken(), undefined],
  ['that is short, and begins as one', 'psk_1', undefined],
  ['that is a hash', 'a1'.repeat(32), undefined],
  ['that no bearer token can have', `${CONSOLE_VALUE} `, undefined],
])('The record of a key with a value %s', (_, value, recordId) => {
  expect(recordIdOf(value)).toBe(recordId);
  expect(read({ value })).toMatchObject(recordId === undefined ? { problem: NO_TOKEN } : { identity: { recordId } });
});

describe('a key has', () => {
  test.each<[string, ReturnType<typeof read>, object]>([
    ['a longer name cut to 100', read({ name: 'n'.repeat(101) }), { name: `${'n'.repeat(97)}…` }],
    ['a name of 100 bytes in 25 characters', read({ name: '🐾'.repeat(25) }), { name: '🐾'.repeat(25) }],
    ['no part of a character at the cut', read({ name: `n${'🐾'.repeat(26)}` }), { name: `n${'🐾'.repeat(24)}…` }],
    ['the limits of the catalogue, whatever its tags are', read({ tags }), { perMinute: 60, perDay: 1_000 }],
    ['its own limits on the Enterprise plan', read({ tags }, enterprise), { perMinute: 5_000, perDay: 1_000_000 }],
    ['an end', read({ tags: { expires: '2031-02-03' } }), { expiresAt: Date.UTC(2031, 1, 3) }],
  ])('%s', (_, registered, identity) => {
    expect(registered).toMatchObject({ identity });
  });
});

describe('a key is not let in', () => {
  test.each<[string, ReturnType<typeof read>, string]>([
    ['without agreed limits', read({}, enterprise), 'is on the Enterprise plan without agreed limits: tag it'],
    ...['060', '60\n', '1000000000000'].map((text): [string, ReturnType<typeof read>, string] => [
      `with ${JSON.stringify(text)} as one of its limits`,
      read({ tags: { ...tags, 'per-minute': text } }, enterprise),
      BAD_LIMITS,
    ]),
    [
      'with more a minute than one item takes',
      read({ tags: { ...tags, 'per-minute': '48001' } }, enterprise),
      'has a tag per-minute above 48000, which is the most that one key takes',
    ],
    ['with one of its limits alone', read({ tags: { 'per-day': '1000' } }, enterprise), BAD_LIMITS],
    ['whose end is a word', read({ tags: { expires: 'tomorrow' } }), 'has a tag expires that is no ISO 8601 date'],
  ])('%s', (_, registered, problem) => {
    expect(registered).toEqual({ problem });
  });
});

test.each([
  ['2031-02-03', '2031-02-03T00:00:00.000Z'],
  ['2031-02-03T04:05:06.789Z', '2031-02-03T04:05:06.789Z'],
  ['2031-02-03T04:05:06+01:00', '2031-02-03T03:05:06.000Z'],
])('The ISO 8601 text %s is %s', (text, time) => {
  expect(isoTime(text)).toBe(Date.parse(time));
});

test.each(['2031-02-03T04:05:06', '2031-02-03\n', '2031-02-30T04:05:06Z', '2031-02-03T04:05:06+24:00'])(
  'No ISO 8601 text that means the same everywhere is %j',
  (text) => {
    expect(isoTime(text)).toBeNaN();
  },
);

test('An account that has nine tenths of the API keys that it may have is a problem', () => {
  expect(shortOfKeys(8_999)).toEqual([]);
  expect(shortOfKeys(9_000)).toEqual(['The account has 9000 of the 10000 API keys that it may have in the region.']);
});
