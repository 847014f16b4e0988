import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
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

  test('may be disabled', () => {
    expect(read({ enabled: false })).toMatchObject({ identity: { enabled: false } });
  });

  test('that API Gateway says nothing else about is disabled, nameless and of unknown age', () => {
    expect(readApiKey({ id: 'k3y1d', value: HASH }, free, noOtherKeys)).toMatchObject({
      identity: { enabled: false, name: '', createdAt: 0 },
    });
  });

  test('has no more than that in its record: no description, no stages, no tags of others', () => {
    const more = { description: 'x', customerId: 'x', stageKeys: ['x'], lastUpdatedDate: CREATED, tags: { team: 'x' } };

    expect(read(more)).toEqual(read());
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
    ['128 characters', 'a'.repeat(128)],
    ['a key in our own format', generateApiKey()],
    ['63 hex digits', 'a'.repeat(63)],
    ['65 hex digits', 'a'.repeat(65)],
  ])('may be, in the console, %s', (_, value) => {
    expect(read({ value })).toMatchObject({ identity: { keyHash: hashApiKey(value), usageIdentifier: 'token' } });
  });

  test.each([
    ['is empty', ''],
    ['is short', 'a'.repeat(19)],
    ['is long', 'a'.repeat(129)],
    ['has a space', `my first key ${'a'.repeat(20)}`],
    ['has letters beyond ASCII', 'ä'.repeat(30)],
    ['is a hash in upper case, which the authorizer never takes for a key', HASH.toUpperCase()],
    ['is a hash with one digit in upper case', `${'a'.repeat(63)}A`],
    ['looks like ours with a wrong checksum', `psk_${'a'.repeat(46)}`],
  ])('that %s is a problem: no bearer token can have it', (_, value) => {
    expect(read({ value })).toEqual({ problem: 'has a value that no bearer token can have' });
  });

  test('that API Gateway does not give is a problem', () => {
    expect(readApiKey({ id: 'k3y1d', enabled: true }, free, noOtherKeys)).toHaveProperty('problem');
  });
});

describe('the name of a key', () => {
  test.each([
    ['no character', '', ''],
    ['100 characters stays whole', 'n'.repeat(100), 'n'.repeat(100)],
    ['101 characters is cut to 100', 'n'.repeat(101), `${'n'.repeat(99)}…`],
    ['1024 characters is cut to 100', 'n'.repeat(1_024), `${'n'.repeat(99)}…`],
    ['letters of any script stays as it is', 'Zoohandlung Müller 動物 🐾', 'Zoohandlung Müller 動物 🐾'],
  ])('of %s', (_, name, expected) => {
    expect(read({ name })).toMatchObject({ identity: { name: expected } });
  });

  test.each([97, 98, 99])('is never cut within a character: %d letters and then emoji', (letters) => {
    const registered = read({ name: 'n'.repeat(letters) + '🐾'.repeat(10) });
    const name = 'identity' in registered ? registered.identity.name : '';

    expect(name).toMatch(/^n{97,}🐾*…$/u);
    expect(name.length).toBeLessThanOrEqual(100);
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

  test('do not matter on the key where the plan has them, wrong ones included', () => {
    expect(read({ tags: { 'per-minute': 'many' } }, free)).toHaveProperty('identity');
  });

  test('must be agreed for Enterprise: without them the key is not let in', () => {
    expect(read({}, enterprise)).toEqual({
      problem: 'is on the Enterprise plan without agreed limits: tag it, or its plan',
    });
  });

  test.each([
    ['one of the two', { 'per-minute': '5000' }],
    ['a word', { 'per-minute': '5000', 'per-day': 'unlimited' }],
    ['zero', { 'per-minute': '0', 'per-day': '1000' }],
  ])('must be two numbers: not %s', (_, wrong) => {
    expect(read({ tags: wrong }, enterprise)).toEqual({
      problem: 'needs both tags per-minute and per-day, as numbers from 1',
    });
  });
});

describe('the end of a key', () => {
  test.each([
    ['2030-12-31', Date.UTC(2030, 11, 31)],
    ['2028-02-29', Date.UTC(2028, 1, 29)],
    ['2030-12-31T18:00Z', Date.UTC(2030, 11, 31, 18)],
    ['2030-12-31T18:00:30Z', Date.UTC(2030, 11, 31, 18, 0, 30)],
    ['2030-12-31T18:00:30.250Z', Date.UTC(2030, 11, 31, 18, 0, 30, 250)],
    ['2030-12-31T18:00+02:00', Date.UTC(2030, 11, 31, 16)],
    ['2030-12-31T18:00:30-05:30', Date.UTC(2030, 11, 31, 23, 30, 30)],
    ['2020-01-01', Date.UTC(2020, 0, 1)],
  ])('is %s', (expires, expiresAt) => {
    expect(read({ tags: { expires } })).toMatchObject({ identity: { expiresAt } });
  });

  test('is never without the tag', () => {
    const registered = read({ tags: {} });

    expect(registered).toHaveProperty('identity');
    expect(registered).not.toHaveProperty('identity.expiresAt', expect.anything());
  });

  test.each([
    ['nothing', ''],
    ['a word', 'tomorrow'],
    ['Unix seconds', '1924992000'],
    ['Unix milliseconds', '1924992000000'],
    ['a date in another order', '31.12.2030'],
    ['a date without its dashes', '20301231'],
    ['a date with single digits', '2030-1-1'],
    ['a day with one digit', '2030-12-3'],
    ['a month that is not there', '2030-13-01'],
    ['a day that no month has', '2030-12-32'],
    ['a day that this month has not', '2030-02-30'],
    ['a leap day of another year', '2030-02-29'],
    ['a time that is not there', '2030-12-31T25:00Z'],
    ['a time cut short', '2030-12-31T'],
    ['a space before', ' 2030-12-31'],
    ['a word behind', '2030-12-31 evening'],
    ['letters behind', '2030-12-31x'],
    ['the name of a month behind', '2030-12-31 June'],
    // Such a time would be another one on each computer that reads it.
    ['a time of no zone', '2030-12-31T18:00'],
    ['a time of no zone, after a space', '2030-12-31 18:00'],
    ['a time of a named zone', '2030-12-31 18:00 PST'],
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

  test('ends with its period of grace', () => {
    const tags = { 'replaced-by': 'n3w1d', expires: '2030-12-31T18:00Z' };

    expect(read({ tags }, free, hashOf)).toMatchObject({
      identity: { replacedBy: successor, expiresAt: Date.UTC(2030, 11, 31, 18) },
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

  test('is none that replaces another, or is being made', () => {
    expect(read({ tags: { replaces: 'n3w1d', unfinished: '2026-11-21T09:30:00Z' } }, free, hashOf)).toEqual(read());
  });
});
