import { describe, expect, test } from '@jest/globals';
import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { allow, challenges, deny } from '../../../shared/http/authorizer-answer.ts';
import {
  contextOf,
  noLimitContext,
  parseAuthorizerContext,
  parseLineage,
  refusalCode,
  usageIdentifier,
} from '../../../shared/http/authorizer-context.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { rateLimitOf, type RefusalReason, type Verdict } from '../../../shared/keys/verdict.ts';
import { aKey } from '../../support/tables.ts';
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
});

describe('what a function makes of it', () => {
  test.each([
    ['ADMITTED', undefined],
    ['RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'],
    ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ])('%s is answered with the error %s', (outcome, code) => {
    const context = parseAuthorizerContext({ ...noLimitContext(NOW), outcome, principalId: 'k3y1d' });

    expect(refusalCode(context)).toBe(code);
  });

  test.each([
    ['no context', undefined],
    ['an empty context', {}],
    ['no outcome', noLimitContext(NOW)],
    ['an unknown outcome', { ...noLimitContext(NOW), outcome: 'WHATEVER' }],
    ['an error that is no refusal', { ...noLimitContext(NOW), outcome: 'PET_NOT_FOUND' }],
    ['no limit', { ...admittedContext, limit: undefined }],
  ])('nothing is served with %s', (_, context) => {
    expect(() => parseAuthorizerContext(context)).toThrow('Invalid');
  });

  test('the key is known by its lineage', () => {
    expect(parseLineage(admittedContext)).toBe('l1n3ag3');
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

const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1';
const context = {
  outcome: 'ADMITTED',
  limit: '60',
  remaining: '59',
  reset: '1749990900',
  rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
  rateLimit: '"minute";r=59;t=30, "day";r=999;t=41130',
  retryAfter: '1',
} as const;

const policyOf = (effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: effect, Action: 'execute-api:Invoke', Resource: `${STAGE}/*` }],
});

const resourcesOf = ({ policyDocument }: APIGatewayAuthorizerResult) =>
  policyDocument.Statement.map((statement) => ('Resource' in statement ? statement.Resource : undefined));

describe('an answer of the authorizer', () => {
  test('that lets a request through names the key, its usage plan and the verdict', () => {
    expect(allow(`${STAGE}/GET/inventory`, 'k3y1d', 'usage-identifier', context)).toEqual({
      principalId: 'k3y1d',
      usageIdentifierKey: 'usage-identifier',
      policyDocument: policyOf('Allow'),
      context,
    });
  });

  test.each([
    ['API_KEY_MISSING', 'Send your API key in the header Authorization: Bearer <API_KEY>.'],
    ['API_KEY_INVALID', 'The API key is mistyped, unknown, disabled or expired.'],
  ] as const)('that refuses a request with %s brings what the 401 is built from', (code, message) => {
    expect(deny(`${STAGE}/GET/inventory`, code, NOW)).toEqual({
      principalId: 'anonymous',
      policyDocument: policyOf('Deny'),
      context: {
        code,
        message,
        limit: '0',
        remaining: '0',
        reset: '1749990900',
        rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
        rateLimit: '"minute";r=0;t=30, "day";r=0;t=41130',
        retryAfter: '1',
        challenge: challenges[code],
      },
    });
  });
});

describe('the policy', () => {
  test.each([
    ['an operation', '/GET/inventory'],
    ['wildcards in the path', '/GET/*/?x/*'],
    ['another ARN in the path', '/GET/arn:aws:execute-api:*:*:*/*'],
  ])('is about the one stage, and takes nothing from the caller, for %s', (_, path) => {
    expect(resourcesOf(allow(STAGE + path, 'k', 'u', context))).toEqual([`${STAGE}/*`]);
    expect(resourcesOf(deny(STAGE + path, 'API_KEY_INVALID', NOW))).toEqual([`${STAGE}/*`]);
  });
});
