import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  contextOf,
  limitHeaders,
  noLimitContext,
  parseAuthorizerContext,
  parseLineage,
  refusalCode,
  unavailableContext,
  unknownLimit,
  usageIdentifier,
} from '../../../shared/http/authorizer-context.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { rateLimitOf, type RefusalReason, type Verdict } from '../../../shared/keys/verdict.ts';
import { aKey } from '../../support/key-records.ts';
import { admittedContext } from '../../support/proxy-event.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const END_OF_DAY = Date.UTC(2025, 5, 16);
const LAST_MINUTE = END_OF_DAY / 60_000 - 1;
const END_OF_MINUTE_SECONDS = '1749990900';
const MINUTE = NOW / 60_000 - 0.5;
const key = aKey({ currentMinute: MINUTE, minuteUsed: 18, dayUsed: 100 });

const admittedWith = (differences: Partial<KeyRecord>): Verdict & { kind: 'admitted' } => {
  const record = { ...key, ...differences };
  return { kind: 'admitted', key: record, rateLimit: rateLimitOf(record) };
};

const POLICY = '"minute";q=60;w=60, "day";q=1000;w=86400';

const refused = (reason: RefusalReason, resetsAt = END_OF_MINUTE, used: Partial<KeyRecord> = {}) =>
  contextOf(
    { kind: 'refused', key: { ...key, ...used }, reason, rateLimit: { limit: 60, remaining: 0, resetsAt } },
    NOW,
  );

describe('what the authorizer says of a request', () => {
  test('that is admitted: its limit, what is left, and when it resets in Unix seconds, all as text', () => {
    const rateLimit = { limit: 60, remaining: 42, resetsAt: END_OF_MINUTE };

    expect(contextOf({ kind: 'admitted', key, rateLimit }, NOW)).toEqual({
      outcome: 'ADMITTED',
      lineage: 'k3y1d',
      limit: '60',
      remaining: '42',
      reset: END_OF_MINUTE_SECONDS,
      rateLimitPolicy: POLICY,
      rateLimit: '"minute";r=42;t=30, "day";r=900;t=41130',
      retryAfter: '1',
    });
  });

  test('that is refused: how many seconds to wait too', () => {
    expect(refused('minute', END_OF_MINUTE, { minuteUsed: 60 })).toEqual({
      outcome: 'RATE_LIMIT_EXCEEDED',
      lineage: 'k3y1d',
      limit: '60',
      remaining: '0',
      reset: END_OF_MINUTE_SECONDS,
      rateLimitPolicy: POLICY,
      rateLimit: '"minute";r=0;t=30, "day";r=900;t=41130',
      retryAfter: '30',
    });
  });

  test.each<[RefusalReason, string]>([
    ['minute', 'RATE_LIMIT_EXCEEDED'],
    ['day', 'DAILY_QUOTA_EXCEEDED'],
    ['suspended', 'API_KEY_SUSPENDED'],
  ])('that is refused for %s: the code %s', (reason, code) => {
    expect(refused(reason).outcome).toBe(code);
  });

  test('a reset within a second is given as its end, never as its start', () => {
    expect(refused('suspended', END_OF_MINUTE - 1)).toMatchObject({ reset: END_OF_MINUTE_SECONDS, retryAfter: '30' });
    expect(refused('suspended', END_OF_MINUTE + 1)).toMatchObject({ reset: '1749990901', retryAfter: '31' });
  });

  test('without a valid key: nothing left until the minute ends', () => {
    expect(noLimitContext(NOW)).toEqual({
      limit: '0',
      remaining: '0',
      reset: END_OF_MINUTE_SECONDS,
      rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
      rateLimit: '"minute";r=0;t=30, "day";r=0;t=41130',
      retryAfter: '1',
    });
  });

  test('that could not be counted: SERVICE_UNAVAILABLE, and nothing left', () => {
    expect(unavailableContext(NOW)).toEqual({ outcome: 'SERVICE_UNAVAILABLE', ...noLimitContext(NOW) });
  });
});

describe('RateLimit (IETF draft): what is left of both windows', () => {
  test.each<[string, string, string]>([
    ['a full day', refused('day', END_OF_DAY, { dayUsed: 1_000 }).rateLimit, '"minute";r=42;t=30, "day";r=0;t=41130'],
    [
      'more used than the limit, as it was lowered',
      refused('minute', END_OF_MINUTE, { minuteUsed: 77, dayUsed: 2_000 }).rateLimit,
      '"minute";r=0;t=30, "day";r=0;t=41130',
    ],
    [
      'a suspension: nothing in the minute until it ends',
      refused('suspended', NOW + 299_500).rateLimit,
      '"minute";r=0;t=300, "day";r=900;t=41130',
    ],
    [
      'a suspension on a day that is used up',
      refused('suspended', END_OF_DAY, { dayUsed: 1_000 }).rateLimit,
      '"minute";r=0;t=41130, "day";r=0;t=41130',
    ],
    [
      'the last millisecond of a minute and a day',
      contextOf(admittedWith({ currentMinute: LAST_MINUTE, minuteUsed: 1, dayUsed: 1 }), END_OF_DAY - 1).rateLimit,
      '"minute";r=59;t=1, "day";r=999;t=1',
    ],
    [
      'a request that was late, counted in the next minute',
      contextOf(admittedWith({ currentMinute: MINUTE + 1, minuteUsed: 1, dayUsed: 1 }), NOW).rateLimit,
      '"minute";r=59;t=90, "day";r=999;t=41130',
    ],
    [
      'an answer that was so late that the minute is over',
      contextOf(admittedWith({ minuteUsed: 1, dayUsed: 1 }), END_OF_MINUTE + 5_000).rateLimit,
      '"minute";r=59;t=0, "day";r=999;t=41095',
    ],
  ])('%s', (_, rateLimit, expected) => {
    expect(rateLimit).toBe(expected);
  });

  test('the quotas of RateLimit-Policy are those of the key', () => {
    expect(contextOf(admittedWith({ perMinute: 60_000, perDay: 10_000_000 }), NOW).rateLimitPolicy).toBe(
      '"minute";q=60000;w=60, "day";q=10000000;w=86400',
    );
  });

  test('both are lists of structured fields with whole numbers, whatever the key has used', () => {
    const used = fc.nat({ max: 2_000_000 });
    fc.assert(
      fc.property(
        used,
        used,
        fc.constantFrom<RefusalReason>('minute', 'day', 'suspended'),
        (minuteUsed, dayUsed, reason) => {
          const { rateLimit, rateLimitPolicy } = refused(reason, END_OF_MINUTE + minuteUsed, { minuteUsed, dayUsed });
          expect(rateLimit).toMatch(/^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/);
          expect(rateLimitPolicy).toBe(POLICY);
        },
      ),
    );
  });

  test('says what X-RateLimit-* say of the window that they are about', () => {
    fc.assert(
      fc.property(fc.nat({ max: 70 }), fc.nat({ max: 1_100 }), (minuteUsed, dayUsed) => {
        const verdict = admittedWith({ minuteUsed, dayUsed });
        const { remaining, reset, rateLimit } = contextOf(verdict, NOW);
        const left = [...rateLimit.matchAll(/r=(\d+);t=(\d+)/g)].map(([, r, t]) => [r, NOW / 1_000 + Number(t)]);
        expect(left).toContainEqual([remaining, Number(reset)]);
      }),
    );
  });
});

describe('what a function makes of it', () => {
  test.each([
    ['ADMITTED', undefined],
    ['RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'],
    ['DAILY_QUOTA_EXCEEDED', 'DAILY_QUOTA_EXCEEDED'],
    ['API_KEY_SUSPENDED', 'API_KEY_SUSPENDED'],
    ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ])('%s is answered with the error %s', (outcome, code) => {
    const context = parseAuthorizerContext({ ...noLimitContext(NOW), outcome, principalId: 'k3y1d' });

    expect(refusalCode(context)).toBe(code);
  });

  test.each([
    ['no context', undefined],
    ['null', null],
    ['an empty context', {}],
    ['no outcome', noLimitContext(NOW)],
    ['an unknown outcome', { ...noLimitContext(NOW), outcome: 'WHATEVER' }],
    ['an error that is no refusal', { ...noLimitContext(NOW), outcome: 'PET_NOT_FOUND' }],
    ['no limit', { ...admittedContext, limit: undefined }],
  ])('nothing is served with %s', (_, context) => {
    expect(() => parseAuthorizerContext(context)).toThrow('Invalid');
  });

  test('an authorizer of a release ago is understood, which says nothing for RateLimit', () => {
    const { rateLimit: _rateLimit, rateLimitPolicy: _policy, ...before } = noLimitContext(NOW);
    const { rateLimit, rateLimitPolicy } = unknownLimit;

    expect(parseAuthorizerContext({ ...before, outcome: 'ADMITTED' })).toEqual({
      ...before,
      outcome: 'ADMITTED',
      rateLimit,
      rateLimitPolicy,
    });
  });

  test('the limit headers are those of the spec (§8, rule 1), and those of the IETF draft', () => {
    expect(limitHeaders).toEqual({
      'X-RateLimit-Limit': 'limit',
      'X-RateLimit-Remaining': 'remaining',
      'X-RateLimit-Reset': 'reset',
      'RateLimit-Policy': 'rateLimitPolicy',
      RateLimit: 'rateLimit',
    });
  });

  test('where nobody has looked at the key, they are of the same form, with zeros', () => {
    expect(unknownLimit).toEqual({
      limit: '0',
      remaining: '0',
      reset: '0',
      rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
      rateLimit: '"minute";r=0;t=0, "day";r=0;t=0',
    });
  });

  test('the key is known by its lineage', () => {
    expect(parseLineage(admittedContext)).toBe('k3y1d');
  });

  test.each([
    ['no context', undefined],
    ['no lineage', {}],
    ['an empty one', { lineage: '' }],
  ])('with %s there is no key to tell requests by', (_, context) => {
    expect(() => parseLineage(context)).toThrow('Invalid');
  });
});

describe('what API Gateway knows a key by', () => {
  const INTERIM = 'ff'.repeat(32);
  const ours = aKey({ keyHash: 'ab', usageIdentifier: 'hash' });
  const ofConsole = aKey({ keyHash: 'cd', usageIdentifier: 'token' });

  test.each([
    ['its hash, where we issued it', ours, { token: 'psk_x', keyHash: 'ab' }, 'ab'],
    ['the hash of its successor, where it was rotated', ours, { token: 'psk_old', keyHash: '99' }, 'ab'],
    ['the token, where it was made in the AWS console', ofConsole, { token: 'a-key', keyHash: 'cd' }, 'a-key'],
    ['the interim key, where one of the console replaced it', ofConsole, { token: 'psk_old', keyHash: '99' }, INTERIM],
  ])('%s; and the interim key, until all of API Gateway knows it', (_, known, presented, identifier) => {
    const justMoved = { ...known, interimUntil: NOW };

    expect(usageIdentifier(justMoved, presented, INTERIM, NOW - 1)).toBe(INTERIM);
    expect(usageIdentifier(justMoved, presented, INTERIM, NOW)).toBe(identifier);
    expect(usageIdentifier(known, presented, INTERIM, NOW)).toBe(identifier);
  });
});
