import { expect } from '@jest/globals';
import * as v from 'valibot';
import { type ErrorCode, errorCatalogue } from '../../shared/contract/errors.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const isErrorCode = (value: unknown): value is ErrorCode => typeof value === 'string' && value in errorCatalogue;

/** The Error body (spec §2): exactly these fields. */
export const errorBodySchema = v.strictObject({
  code: v.custom<ErrorCode>(isErrorCode),
  message: v.pipe(v.string(), v.minLength(1)),
  status: v.number(),
});

const integer: unknown = expect.stringMatching(/^\d+$/);
const atLeastOne: unknown = expect.stringMatching(/^[1-9]\d*$/);

const NO_CONTENT = 204;
const TOO_MANY = 429;

/** Headers that an answer with this status must have. */
const ofStatus: Readonly<Record<number, Readonly<Record<string, unknown>>>> = {
  401: { 'www-authenticate': 'Bearer' },
  405: { allow: expect.stringMatching(/^[A-Z]+(, [A-Z]+)*$/) },
  409: { 'retry-after': atLeastOne },
  412: { etag: expect.stringMatching(/^"[^"]+"$/) },
  429: { 'retry-after': atLeastOne },
  503: { 'retry-after': atLeastOne },
};

/**
 * What every answer of the API promises, whatever the request: JSON, the limit headers (spec §8), and for an error the
 * Error body with the very status of the answer (spec §7).
 */
export function expectPromisesKept({ status, headers, text }: RawAnswer, method: string): void {
  expect({ status, ...Object.fromEntries(headers) }).toMatchObject({
    ...(status !== NO_CONTENT && { 'content-type': 'application/json' }),
    'x-ratelimit-limit': integer,
    'x-ratelimit-remaining': integer,
    'x-ratelimit-reset': integer,
    ...ofStatus[status],
  });
  expectWindowsAgree(headers, status);
  if (method === 'HEAD') expect(text).toBe('');
  else if (status >= 400) {
    const error = v.parse(errorBodySchema, JSON.parse(text));
    expect({ body: error.status, catalogue: errorCatalogue[error.code].status }).toEqual({
      body: status,
      catalogue: status,
    });
  }
}

/** `X-RateLimit-*` tell of one window, the other limit headers of both: they must tell the same. */
function expectWindowsAgree(headers: Headers, status: number): void {
  const [quotas, left] = ['RateLimit-Policy', 'RateLimit'].map((name) =>
    [...(headers.get(name) ?? '').matchAll(/;[qr]=(\d+);[wt]=\d+/g)].map(([, count]) => count),
  );
  expect(quotas).toContain(headers.get('X-RateLimit-Limit'));
  // A suspended key has nothing left in any window, whatever its counters say.
  if (status !== TOO_MANY) expect(left).toContain(headers.get('X-RateLimit-Remaining'));
}
