import { describe, expect, test } from '@jest/globals';
import { errorCatalog } from '../../../shared/contract/errors.ts';
import { allow, challenges, deny, contextOf } from '../../../shared/http/authorizer-result.ts';
import { readAuthorizerContext, refusalOf } from '../../../shared/http/request.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { limitRefusal } from '../../../shared/keys/verdict.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

/** 30 seconds into a minute, and 41,130 before the day ends. */
const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const END_OF_DAY = Date.UTC(2025, 5, 16);
const END_OF_MINUTE_SECONDS = '1749990900';
const MINUTE = NOW / 60_000 - 0.5;
const { recordId, tokens } = aKey();
const { hash } = tokenOf({ recordId, tokens });
const key = aKey({ recordId, tokens, currentMinute: MINUTE, minuteUsed: 18, dayUsed: 100 });

const admitted = (differences: Partial<KeyRecord> = {}, now = NOW) =>
  contextOf({ kind: 'admitted', key: { ...key, ...differences } }, hash, now);

const refused = (differences: Partial<KeyRecord>, now = NOW) =>
  contextOf(limitRefusal({ ...key, ...differences }, NOW), hash, now);

describe('The context of a request', () => {
  test('that is admitted has the limit, what remains and when it resets in Unix seconds, all as text', () => {
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

  const suspended = 'The API key is suspended, as 60 requests were refused within a minute';
  const byAdmin = { suspendedUntil: NOW + 1, suspendedByAdmin: true };

  test.each([
    ['Per-minute limit of 60 requests exceeded', { minuteUsed: 60 }, '60', END_OF_MINUTE_SECONDS, '30'],
    ['Daily quota of 1000 requests exceeded', { dayUsed: 1_000 }, '1000', '1750032000', '41130'],
    [suspended, { suspendedUntil: NOW + 30_001 }, '60', '1749990901', '31'],
    ['The admin of the store has suspended the API key', byAdmin, '60', '1749990871', '1'],
  ])('that is refused has the reason and the whole seconds to wait: %s', (reason, state, limit, reset, retryAfter) => {
    const context = refused(state);
    expect(context).toMatchObject({ limit, remaining: '0', reset, retryAfter });
    expect(refusalOf(readAuthorizerContext(context))).toMatchObject({
      code: context.outcome,
      message: `${reason}: retry after ${retryAfter} s.`,
      headers: { 'Retry-After': retryAfter },
    });
    expect(refused(state, NOW + 86_400_000)).toMatchObject({ retryAfter: '1' });
  });

  test('has read access for an unknown access, and no token if the key no longer has it', () => {
    const ofLaterRelease = Object.entries(tokens).map(([each, token]) => [each, { ...token, access: 'append' }]);
    const later = { ...key, tokens: Object.fromEntries(ofLaterRelease) };
    const context = contextOf({ kind: 'admitted', key }, 'none', NOW);

    expect(contextOf({ kind: 'admitted', key: later }, hash, NOW)).toMatchObject({ access: 'read' });

    expect(context).toMatchObject({ access: 'read', recordId });
    expect(context).not.toHaveProperty('token');
  });

  const used = { minuteUsed: 1, dayUsed: 1 };
  const inLastMinute = { ...used, currentMinute: END_OF_DAY / 60_000 - 1 };

  test.each([
    ['1 second in the last millisecond', admitted(inLastMinute, END_OF_DAY - 1), '"minute";r=59;t=1, "day";r=999;t=1'],
    [
      'the seconds of the minute that counts the request, even if that has not begun',
      admitted({ ...used, currentMinute: MINUTE + 1 }),
      '"minute";r=59;t=60, "day";r=999;t=41100',
    ],
    ['0 seconds after the end', admitted(used, NOW + 35_000), '"minute";r=59;t=0, "day";r=999;t=41095'],
  ])('says in RateLimit when a window resets: %s', (_, { rateLimit }, expected) => {
    expect(rateLimit).toBe(expected);
  });
});

const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1';

const policyOf = (Effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: `${STAGE}/*` }],
});

describe('The result of the authorizer', () => {
  test('allows exactly this stage, even if the path of the request has wildcards', () => {
    const context = admitted();

    expect(allow(`${STAGE}/GET/arn:aws:execute-api:*:*:*/*`, 'k3y1d', 'usage-identifier', context)).toEqual({
      principalId: 'k3y1d',
      usageIdentifierKey: 'usage-identifier',
      policyDocument: policyOf('Allow'),
      context,
    });
  });

  test('denies with all values of the 401: code, message, challenge, link and exhausted limits', () => {
    const code = 'API_KEY_MISSING';
    const context = {
      code,
      message: errorCatalog[code].message,
      challenge: challenges[code],
      limit: '0',
      remaining: '0',
      reset: END_OF_MINUTE_SECONDS,
      rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
      rateLimit: '"minute";r=0;t=30, "day";r=0;t=41130',
      retryAfter: '1',
    };
    const denied = { principalId: 'anonymous', policyDocument: policyOf('Deny'), context };
    const help = '<https://docs.example.com/errors.html#API_KEY_MISSING>; rel="help"';

    expect(deny(`${STAGE}/GET/*`, code, NOW)).toEqual(denied);
    expect(deny(`${STAGE}/GET/*`, code, NOW, { referenceOrigin: 'https://docs.example.com' })).toEqual({
      ...denied,
      context: { ...context, help },
    });
  });
});
