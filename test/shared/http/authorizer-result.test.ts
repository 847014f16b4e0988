import { describe, expect, test } from '@jest/globals';
import { errorCatalog } from '../../../shared/contract/errors.ts';
import { allow, challenges, deny, contextOf, noLimitContext } from '../../../shared/http/authorizer-result.ts';
import { readAuthorizerContext, refusalOf } from '../../../shared/http/request.ts';
import { tokenEntry } from '../../../shared/key-registry/record-changes.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { limitRefusal } from '../../../shared/keys/verdict.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const END_OF_DAY = Date.UTC(2025, 5, 16);
const END_OF_MINUTE_SECONDS = '1749990900';
const MINUTE = NOW / 60_000 - 0.5;
const { recordId, tokens } = aKey();
const { hash } = tokenOf({ recordId, tokens });
const key = aKey({ recordId, tokens, currentMinute: MINUTE, minuteUsed: 18, dayUsed: 100 });

const admitted = (differences: Partial<KeyRecord> = {}, now = NOW) =>
  contextOf({ kind: 'admitted', key: { ...key, ...differences } }, hash, now);

const refused = (differences: Partial<KeyRecord>) =>
  contextOf(limitRefusal({ ...key, ...differences }, NOW), hash, NOW);

/** A request without a valid key has nothing left until the minute ends. */
const nothingLeft = {
  limit: '0',
  remaining: '0',
  reset: END_OF_MINUTE_SECONDS,
  rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
  rateLimit: '"minute";r=0;t=30, "day";r=0;t=41130',
  retryAfter: '1',
};

describe('the authorizer context of a request', () => {
  test('that is admitted has limit, remaining quota and reset as text', () => {
    expect(admitted()).toEqual({
      outcome: 'ADMITTED',
      recordId,
      plan: 'free',
      token: expect.stringMatching(/^main\/[0-9A-Za-z]{4}$/),
      access: 'full',
      limits: JSON.stringify([
        { window: 'minute', limit: 60, remaining: 42, resetsAt: '2025-06-15T12:35:00Z' },
        { window: 'day', limit: 1_000, remaining: 900, resetsAt: '2025-06-16T00:00:00Z' },
      ]),
      limit: '60',
      remaining: '42',
      reset: END_OF_MINUTE_SECONDS,
      rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
      rateLimit: '"minute";r=42;t=30, "day";r=900;t=41130',
      retryAfter: '1',
    });
  });

  test.each([
    [
      'Per-minute limit of 60 requests exceeded: retry after 30 s.',
      { minuteUsed: 60 },
      '60',
      END_OF_MINUTE_SECONDS,
      '30',
    ],
    ['Daily quota of 1000 requests exceeded: retry after 41130 s.', { dayUsed: 1_000 }, '1000', '1750032000', '41130'],
    [
      'The API key is suspended, as 60 requests were refused within a minute: retry after 31 s.',
      { suspendedUntil: NOW + 30_001 },
      '60',
      '1749990901',
      '31',
    ],
    [
      'The admin of the store has suspended the API key: retry after 1 s.',
      { suspendedUntil: NOW + 1, suspendedByAdmin: true },
      '60',
      '1749990871',
      '1',
    ],
  ])('that is refused has the seconds to wait: %s', (message, state, limit, reset, retryAfter) => {
    const context = refused(state);
    expect(context).toMatchObject({ limit, remaining: '0', reset, retryAfter });
    const late = contextOf(limitRefusal({ ...key, ...state }, NOW), hash, NOW + 86_400_000);
    expect(late.retryAfter).toBe('1');
    expect(refusalOf(context)).toMatchObject({
      code: context.outcome,
      message,
      headers: { 'Retry-After': retryAfter },
    });
  });
});

describe('the access of a token', () => {
  const [reports = 'none'] = Object.keys(tokenEntry('reports', {}, 0));
  const both = {
    ...key,
    tokens: { ...tokens, ...tokenEntry('reports', { access: 'read', label: 'reports' }, 0) },
  };

  test.each([
    ['its own access, not that of another token', hash, 'full', /^main\/....$/],
    ['read-only, if it is read-only', reports, 'read', /^reports\/orts$/],
    ['read-only, if the key does not have it', 'none', 'read', /^none$/],
  ])('is %s, beside its name', (_, ofToken, access, name) => {
    const { token = 'none', ...context } = contextOf({ kind: 'admitted', key: both }, ofToken, NOW);
    expect(context).toMatchObject({ access, recordId });
    expect(token).toMatch(name);
  });
});

describe('RateLimit (IETF draft) has the remaining quota of both windows for', () => {
  const last = { currentMinute: END_OF_DAY / 60_000 - 1, minuteUsed: 1, dayUsed: 1 };
  const one = { minuteUsed: 1, dayUsed: 1 };

  test.each([
    ['more used than the limits', refused({ minuteUsed: 77, dayUsed: 2_000 }), '"minute";r=0;t=30, "day";r=0;t=41130'],
    ['a suspension', refused({ suspendedUntil: NOW + 299_500 }), '"minute";r=0;t=300, "day";r=900;t=41130'],
    ['the last millisecond of a day', admitted(last, END_OF_DAY - 1), '"minute";r=59;t=1, "day";r=999;t=1'],
    [
      'a late request, by the minute that it was counted in',
      admitted({ ...one, currentMinute: MINUTE + 1 }),
      '"minute";r=59;t=60, "day";r=999;t=41100',
    ],
    [
      'a response so late that the minute is over',
      admitted(one, NOW + 35_000),
      '"minute";r=59;t=0, "day";r=999;t=41095',
    ],
  ])('%s', (_, { rateLimit }, expected) => {
    expect(rateLimit).toBe(expected);
  });
});

test('a function reads what the authorizer wrote, and the id of the key', () => {
  const context = { ...refused({ dayUsed: 1_000 }), principalId: 'k3y1d' };

  expect(readAuthorizerContext({ ...context, integrationLatency: 12 })).toEqual(context);
});

const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1';

/** Of the one stage, whatever the path has: that is the caller's. */
const policyOf = (Effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: `${STAGE}/*` }],
});

describe('a response of the authorizer', () => {
  test('that admits has the key, its usage identifier and the verdict, for any path', () => {
    const context = admitted();

    expect(allow(`${STAGE}/GET/arn:aws:execute-api:*:*:*/*`, 'k3y1d', 'usage-identifier', context)).toEqual({
      principalId: 'k3y1d',
      usageIdentifierKey: 'usage-identifier',
      policyDocument: policyOf('Allow'),
      context,
    });
  });

  test('that denies has the values of the 401', () => {
    const code = 'API_KEY_MISSING';
    const { message } = errorCatalog[code];
    expect(noLimitContext(NOW)).toEqual(nothingLeft);
    const context = { code, message, ...nothingLeft, challenge: challenges[code] };
    const denied = { principalId: 'anonymous', policyDocument: policyOf('Deny'), context };
    expect(deny(`${STAGE}/GET/*`, code, NOW)).toEqual(denied);
    expect(deny(`${STAGE}/GET/*`, code, NOW, { referenceOrigin: 'https://docs.example.com' })).toEqual({
      ...denied,
      context: { ...context, help: '<https://docs.example.com/errors.html#API_KEY_MISSING>; rel="help"' },
    });
  });
});
