import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import { isoTime } from '../../../shared/key-registry/gateway-tags.ts';
import { readApiKey, valueOf } from '../../../shared/key-registry/registered-key.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';

const HASH = hashApiKey('a key of ours');
const CREATED = new Date('2026-03-04T05:06:07.890Z');
const onConsole = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

const free: CustomerPlan = {
  usagePlanId: 'pl4n1d',
  name: 'Free',
  plan: 'free',
  limits: { perMinute: 60, perDay: 1_000 },
  isOwn: false,
};
/** The Enterprise plan of the catalogue: each key on it has its own limits. */
const enterprise: CustomerPlan = { ...free, name: 'Enterprise', plan: 'enterprise', limits: undefined };

const aGatewayKey = (differences: ApiKey = {}): ApiKey => ({
  id: 'k3y1d',
  name: 'acme',
  value: HASH,
  enabled: true,
  createdDate: CREATED,
  ...differences,
});

const noOtherKeys = () => undefined;

/** A key on the Free plan that we issued, except for what the test says. */
const read = (differences: ApiKey = {}, plan = free, hashOf: (keyId: string) => string | undefined = noOtherKeys) =>
  readApiKey(aGatewayKey(differences), plan, hashOf);

describe('a key of API Gateway', () => {
  test('is known by its hash, on the plan and with the limits of its usage plan', () => {
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
});

describe('the value of a key', () => {
  test.each([
    ['64 hex digits are the hash of a key that we issued', HASH, { keyHash: HASH, usageIdentifier: 'hash' }],
    [
      'anything else was made in the AWS console: it is hashed, and API Gateway knows it as it is',
      onConsole,
      { keyHash: hashApiKey(onConsole), usageIdentifier: 'token' },
    ],
  ])('%s', (_, value, expected) => {
    expect(valueOf(value)).toEqual(expected);
    expect(read({ value })).toMatchObject({ identity: expected });
  });

  test.each([['63 hex digits', 'a'.repeat(63)]])('may be, in the console, %s', (_, value) => {
    expect(read({ value })).toMatchObject({ identity: { keyHash: hashApiKey(value), usageIdentifier: 'token' } });
  });

  test.each([
    ['is short', 'a'.repeat(19)],
    ['is a hash in upper case, which the authorizer never takes for a key', HASH.toUpperCase()],
    ['looks like ours with a wrong checksum', `psk_${'a'.repeat(46)}`],
  ])('that %s is a problem: no bearer token can have it', (_, value) => {
    expect(read({ value })).toEqual({ problem: 'has a value that no bearer token can have' });
  });
});

describe('the name of a key', () => {
  test.each([
    ['100 characters stays whole', 'n'.repeat(100), 'n'.repeat(100)],
    ['101 characters is cut to 100', 'n'.repeat(101), `${'n'.repeat(99)}…`],
    ['letters of any script stays as it is', 'Zoohandlung Müller 動物 🐾', 'Zoohandlung Müller 動物 🐾'],
  ])('of %s', (_, name, expected) => {
    expect(read({ name })).toMatchObject({ identity: { name: expected } });
  });
});

describe('the limits of a key', () => {
  const tags = { 'per-minute': '5000', 'per-day': '1000000' };

  test('are those of its usage plan, whatever it is tagged with itself', () => {
    const ofPlan = { ...enterprise, limits: { perMinute: 2_000, perDay: 200_000 } };

    expect(read({ tags }, free)).toMatchObject({ identity: { plan: 'free', perMinute: 60, perDay: 1_000 } });
    expect(read({ tags }, ofPlan)).toMatchObject({ identity: { perMinute: 2_000, perDay: 200_000 } });
  });

  test('are its own where the plan has none', () => {
    expect(read({ tags }, enterprise)).toMatchObject({
      identity: { plan: 'enterprise', perMinute: 5_000, perDay: 1_000_000 },
    });
  });

  test('must be agreed for Enterprise: without them the key is not let in', () => {
    expect(read({}, enterprise)).toEqual({
      problem: 'is on the Enterprise plan without agreed limits: tag it, or its plan',
    });
  });
});

test('the end of a key cannot be a word', () => {
  expect(read({ tags: { expires: 'tomorrow' } })).toEqual({ problem: 'has a tag expires that is no ISO 8601 date' });
});

describe('a key that was rotated', () => {
  const successor = hashApiKey('its successor');
  const hashOf = (keyId: string) => (keyId === 'n3w1d' ? successor : undefined);

  test('is counted as the key that replaces it', () => {
    expect(read({ tags: { 'replaced-by': 'n3w1d' } }, free, hashOf)).toMatchObject({
      identity: { keyHash: HASH, replacedBy: successor },
    });
  });

  test.each([['is gone', '0ld1d']])('is not let in where the one that replaces it %s', (_, keyId) => {
    expect(read({ tags: { 'replaced-by': keyId } }, free, hashOf)).toEqual({
      problem: `was replaced by ${keyId}, which is gone`,
    });
  });
});

describe('an ISO 8601 text', () => {
  test.each([
    ['2031-02-03', '2031-02-03T00:00:00.000Z'],
    ['2031-02-03T04:05Z', '2031-02-03T04:05:00.000Z'],
    ['2031-02-03T04:05:06.789Z', '2031-02-03T04:05:06.789Z'],
    ['2031-02-03T04:05:06+01:00', '2031-02-03T03:05:06.000Z'],
  ])('%s is %s', (text, time) => {
    expect(isoTime(text)).toBe(Date.parse(time));
  });
});

describe('no ISO 8601 text that means the same everywhere', () => {
  test.each([
    ['a time without a zone', '2031-02-03T04:05:06'],
    ['a zone without a colon', '2031-02-03T04:05:06+0100'],
    ['four digits of a second', '2031-02-03T04:05:06.7890Z'],
    ['a line end', '2031-02-03\n'],
    ['the 29th of February in a year that has none', '2031-02-29'],
    ['the 30th of February, with a time', '2031-02-30T04:05:06Z'],
    ['a zone of 24 hours', '2031-02-03T04:05:06+24:00'],
  ])('%s is none: %j', (_, text) => {
    expect(isoTime(text)).toBeNaN();
  });
});
