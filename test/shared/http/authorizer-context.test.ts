import { describe, expect, test } from '@jest/globals';
import {
  contextOf,
  limitHeaders,
  noLimitContext,
  parseAuthorizerContext,
  refusalCode,
  unavailableContext,
  usageIdentifier,
} from '../../../shared/http/authorizer-context.ts';
import type { RefusalReason } from '../../../shared/keys/verdict.ts';
import { aKey } from '../../support/key-records.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const END_OF_MINUTE_SECONDS = '1749990900';
const key = aKey();

const refused = (reason: RefusalReason, resetsAt = END_OF_MINUTE) =>
  contextOf({ kind: 'refused', key, reason, rateLimit: { limit: 60, remaining: 0, resetsAt } }, NOW);

describe('what the authorizer says of a request', () => {
  test('that is admitted: its limit, what is left, and when it resets in Unix seconds, all as text', () => {
    const rateLimit = { limit: 60, remaining: 42, resetsAt: END_OF_MINUTE };

    expect(contextOf({ kind: 'admitted', key, rateLimit }, NOW)).toEqual({
      outcome: 'ADMITTED',
      limit: '60',
      remaining: '42',
      reset: END_OF_MINUTE_SECONDS,
      retryAfter: '1',
    });
  });

  test('that is refused: how many seconds to wait too', () => {
    expect(refused('minute')).toEqual({
      outcome: 'RATE_LIMIT_EXCEEDED',
      limit: '60',
      remaining: '0',
      reset: END_OF_MINUTE_SECONDS,
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
    expect(noLimitContext(NOW)).toEqual({ limit: '0', remaining: '0', reset: END_OF_MINUTE_SECONDS, retryAfter: '1' });
  });

  test('that could not be counted: SERVICE_UNAVAILABLE, and nothing left', () => {
    expect(unavailableContext(NOW)).toEqual({ outcome: 'SERVICE_UNAVAILABLE', ...noLimitContext(NOW) });
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
    ['no limit', { outcome: 'ADMITTED', remaining: '1', reset: '1', retryAfter: '1' }],
  ])('nothing is served with %s', (_, context) => {
    expect(() => parseAuthorizerContext(context)).toThrow('Invalid');
  });

  test('the limit headers are those of the spec (§8, rule 1)', () => {
    expect(limitHeaders).toEqual({
      'X-RateLimit-Limit': 'limit',
      'X-RateLimit-Remaining': 'remaining',
      'X-RateLimit-Reset': 'reset',
    });
  });
});

describe('what API Gateway knows a key by', () => {
  const INTERIM = 'ff'.repeat(32);
  const ours = aKey({ keyHash: 'ab', usageIdentifier: 'hash' });
  const ofConsole = aKey({ keyHash: 'cd', usageIdentifier: 'token' });

  test.each([
    ['its hash, where we issued it', ours, 'psk_x', 'ab'],
    ['the token, where it was made in the AWS console', ofConsole, 'a-key-from-the-console', 'a-key-from-the-console'],
  ])('%s', (_, known, token, identifier) => {
    expect(usageIdentifier(known, token, INTERIM, NOW)).toBe(identifier);
  });

  test.each([
    ['one we issued', ours, 'psk_x', 'ab'],
    ['one made in the AWS console', ofConsole, 'a-key-from-the-console', 'a-key-from-the-console'],
  ])('%s: the interim key, until all of API Gateway knows it', (_, known, token, identifier) => {
    const justMoved = { ...known, interimUntil: NOW };

    expect(usageIdentifier(justMoved, token, INTERIM, NOW - 1)).toBe(INTERIM);
    expect(usageIdentifier(justMoved, token, INTERIM, NOW)).toBe(identifier);
    expect(usageIdentifier(justMoved, token, INTERIM, NOW + 1)).toBe(identifier);
  });
});
