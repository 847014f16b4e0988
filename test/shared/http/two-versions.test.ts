import { describe, expect, test } from '@jest/globals';
import { operationHandler } from '../../../shared/http/operation-handler.ts';
import { limitHeaders, unknownLimitHeaders } from '../../../shared/http/response-headers.ts';
import { contextOf, uncountedContext } from '../../../shared/http/authorizer-result.ts';
import { limitRefusal } from '../../../shared/keys/verdict.ts';
import { admittedContext, admittedLimits, responseTo, aProxyEvent } from '../../support/proxy-event.ts';
import { recordFaults, recordRequestLines } from '../../support/request-lines.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

recordRequestLines();
const faults = recordFaults();

const respond = () => Promise.resolve({ status: 200, body: '{}' });
const update = { method: 'PATCH', resource: '/inventory/{petId}' };

/** The response of a function of this version to a context. */
async function answered(
  authorizer: Readonly<Record<string, unknown>>,
  request: Parameters<typeof aProxyEvent>[0] = {},
) {
  const { statusCode, headers, body } = await responseTo(
    operationHandler(respond).handler,
    aProxyEvent({ ...request, authorizer }),
  );
  const { code }: { code?: string } = JSON.parse(body);
  return { status: statusCode, code, limit: headers['X-RateLimit-Limit'], retryAfter: headers['Retry-After'] };
}

/** The context as the last release makes it: replace it by that of this one once that is the last. */
const lastRelease = {
  outcome: 'ADMITTED',
  recordId: 'petstoreinventory0123456789abcdef',
  plan: 'free',
  access: 'full',
  limit: '60',
  remaining: '42',
  reset: '1749990900',
  rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
  rateLimit: '"minute";r=42;t=30, "day";r=900;t=41130',
  retryAfter: '1',
  principalId: 'k3y1d',
};

describe('with an authorizer of the last release, functions', () => {
  test('serve what it admits', async () => {
    expect(await answered(lastRelease, update)).toMatchObject({ status: 200, limit: '60' });
    expect(await answered({ ...lastRelease, access: 'read' }, update)).toMatchObject({ code: 'TOKEN_READ_ONLY' });
  });

  test.each([
    ['API_KEY_SUSPENDED', 429],
    ['SERVICE_UNAVAILABLE', 503],
  ])('refuse what it refuses: %s', async (outcome, status) => {
    const response = await answered({ ...lastRelease, outcome, retryAfter: '17' });
    expect(response).toEqual({ status, code: outcome, limit: '60', retryAfter: '17' });
  });
});

/** Texts, by the names that a context has. */
const text = (context: object) => Object.fromEntries(Object.keys(context).map((name) => [name, expect.any(String)]));

test('functions of the last release can read what the authorizer writes', () => {
  const now = Date.UTC(2025, 5, 15, 12, 34, 30);
  const key = aKey({ currentMinute: now / 60_000 - 0.5 });
  const { hash } = tokenOf(key);
  const refusals = [{ dayUsed: 1_000 }, { minuteUsed: 60 }, { suspendedUntil: now + 1 }].map((state) =>
    contextOf(limitRefusal({ ...key, ...state }, now), hash, now),
  );
  const { principalId: _byGateway, recordId, plan, access, ...ofEvery } = lastRelease;
  // The last release leaves out a header whose value it does not get.
  const { rateLimitPolicy: _policy, rateLimit: _rest, ...ofUncounted } = ofEvery;
  for (const context of [contextOf({ kind: 'admitted', key }, hash, now), ...refusals])
    expect(context).toMatchObject(text({ ...ofEvery, recordId, plan, access }));
  expect(uncountedContext(now)).toMatchObject(text(ofUncounted));
});

describe('with an authorizer of a later release, functions', () => {
  test('return 503 with its Retry-After for an unknown refusal, and log it', async () => {
    const response = await answered({ ...admittedContext, outcome: 'KEY_PAUSED', retryAfter: '17' });

    expect(response).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE', limit: '60', retryAfter: '17' });
    expect(faults()).toEqual([[expect.stringContaining('KEY_PAUSED')]]);
  });

  test('treat an unknown access as read-only', async () => {
    const context = { ...admittedContext, access: 'append' };

    expect(await answered(context, update)).toMatchObject({ status: 403, code: 'TOKEN_READ_ONLY' });
    expect(await answered(context)).toMatchObject({ status: 200 });
  });

  test.each(Object.keys(admittedContext))(
    'never return 500 for a context without %s, or with it as a number',
    async (name) => {
      for (const value of [undefined, 5]) {
        const authorizer = { ...admittedContext, more: 'x', [name]: value };
        const response = await responseTo(operationHandler(respond).handler, aProxyEvent({ authorizer }));

        expect(response.statusCode).toBe(name === 'outcome' ? 503 : 200);
        const [missing = ''] = Object.entries(limitHeaders).find(([, source]) => source === name) ?? [];
        const { [missing]: _missing, ...others }: Record<string, string> = admittedLimits;
        const safe: Record<string, string> = unknownLimitHeaders;
        expect(response.headers).toMatchObject(others);
        expect(response.headers[missing]).toBe(safe[missing]);
      }
    },
  );
});
