import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import { isoTime } from '../../../shared/key-registry/gateway-tags.ts';
import { readApiKey, valueOf } from '../../../shared/key-registry/registered-key.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';

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

  test.each([
    ['20 characters', 'a'.repeat(20)],
    ['a key in our own format', generateApiKey()],
    ['63 hex digits', 'a'.repeat(63)],
  ])('may be, in the console, %s', (_, value) => {
    expect(read({ value })).toMatchObject({ identity: { keyHash: hashApiKey(value), usageIdentifier: 'token' } });
  });

  test.each([
    ['is short', 'a'.repeat(19)],
    ['is long', 'a'.repeat(129)],
    ['has a space', `my first key ${'a'.repeat(20)}`],
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

describe('the end of a key', () => {
  test.each([
    ['a word', 'tomorrow'],
    ['Unix seconds', '1924992000'],
    ['a date in another order', '31.12.2030'],
    ['a date with single digits', '2030-1-1'],
    ['a month that is not there', '2030-13-01'],
    ['a day that this month has not', '2030-02-30'],
    ['a time that is not there', '2030-12-31T25:00Z'],
    // Such a time would be another one on each computer that reads it.
    ['a time of no zone', '2030-12-31T18:00'],
  ])('cannot be %s', (_, expires) => {
    expect(read({ tags: { expires } })).toEqual({ problem: 'has a tag expires that is no ISO 8601 date' });
  });
});

describe('a key that was rotated', () => {
  const successor = hashApiKey('its successor');
  const hashOf = (keyId: string) => (keyId === 'n3w1d' ? successor : undefined);

  test('is counted as the key that replaces it', () => {
    expect(read({ tags: { 'replaced-by': 'n3w1d' } }, free, hashOf)).toMatchObject({
      identity: { keyHash: HASH, replacedBy: successor },
    });
  });

  test.each([
    ['is gone', '0ld1d'],
    ['is not named', ''],
  ])('is not let in where the one that replaces it %s', (_, keyId) => {
    expect(read({ tags: { 'replaced-by': keyId } }, free, hashOf)).toEqual({
      problem: `was replaced by ${keyId}, which is gone`,
    });
  });
});

describe('an ISO 8601 text', () => {
  test.each([
    ['2031-02-03', '2031-02-03T00:00:00.000Z'],
    ['2032-02-29', '2032-02-29T00:00:00.000Z'],
    ['9999-12-31', '9999-12-31T00:00:00.000Z'],
    ['2031-02-03T04:05Z', '2031-02-03T04:05:00.000Z'],
    ['2031-02-03T04:05:06Z', '2031-02-03T04:05:06.000Z'],
    ['2031-02-03T04:05:06.789Z', '2031-02-03T04:05:06.789Z'],
    ['2031-02-03T04:05:06+01:00', '2031-02-03T03:05:06.000Z'],
    ['2031-02-03T00:30+05:45', '2031-02-02T18:45:00.000Z'],
    ['2031-12-31T23:30:00-01:00', '2032-01-01T00:30:00.000Z'],
    ['2031-02-03T24:00:00Z', '2031-02-04T00:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(isoTime(text)).toBe(Date.parse(time));
  });
});

describe('no ISO 8601 text that means the same everywhere', () => {
  test.each([
    ['nothing', ''],
    ['a month', '2031-02'],
    ['Unix seconds', '1927339506'],
    ['a time without a zone', '2031-02-03T04:05:06'],
    ['a space for the T', '2031-02-03 04:05:06Z'],
    ['a small t', '2031-02-03t04:05:06Z'],
    ['a zone without a colon', '2031-02-03T04:05:06+0100'],
    ['four digits of a second', '2031-02-03T04:05:06.7890Z'],
    ['one digit of a month', '2031-2-03'],
    ['a space before', ' 2031-02-03'],
    ['a line end', '2031-02-03\n'],
    ['other digits', '２０３１-02-03'],
    ['month 13', '2031-13-03'],
    ['day 32', '2031-01-32'],
    ['the 29th of February in a year that has none', '2031-02-29'],
    ['the 30th of February, with a time', '2031-02-30T04:05:06Z'],
    ['hour 24 with minutes', '2031-02-03T24:01:00Z'],
    ['minute 60', '2031-02-03T04:60:00Z'],
    ['a zone of 24 hours', '2031-02-03T04:05:06+24:00'],
  ])('%s is none: %j', (_, text) => {
    expect(isoTime(text)).toBeNaN();
  });
});
