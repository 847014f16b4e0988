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

const whole = /^\d+$/;
const atLeastOne = /^[1-9]\d*$/;

const NO_CONTENT = 204;
const TOO_MANY = 429;

/** Headers that every answer has. */
const ofEvery: Readonly<Record<string, RegExp>> = {
  'X-RateLimit-Limit': whole,
  'X-RateLimit-Remaining': whole,
  'X-RateLimit-Reset': whole,
  'Cache-Control': /^no-store$/,
  'X-Content-Type-Options': /^nosniff$/,
  'Strict-Transport-Security': /^max-age=\d{8,}$/,
};

/** Headers that an answer with this status must have. */
const ofStatus: Readonly<Record<number, Readonly<Record<string, RegExp>>>> = {
  401: { 'WWW-Authenticate': /^Bearer realm="[^"]+"(, error="invalid_token")?$/ },
  405: { Allow: /^[A-Z]+(, [A-Z]+)*$/ },
  409: { 'Retry-After': atLeastOne },
  412: { ETag: /^"[^"]+"$/ },
  415: { Allow: /^[A-Z]+(, [A-Z]+)*$/ },
  429: { 'Retry-After': atLeastOne },
  503: { 'Retry-After': atLeastOne },
};

/**
 * What is wrong with an answer; empty where nothing is. Every answer of the API promises this, whatever the request: JSON, the
 * limit headers (spec §8), and for an error the Error body with the very status of the answer (spec §7).
 */
export function brokenPromises({ status, headers, text }: RawAnswer, method: string): string[] {
  const expected = {
    ...ofEvery,
    ...(status !== NO_CONTENT && { 'Content-Type': /^application\/json$/ }),
    ...ofStatus[status],
  };
  const faults = Object.entries(expected)
    .filter(([name, pattern]) => !pattern.test(headers.get(name) ?? ''))
    .map(([name]) => `header ${name}: ${headers.get(name)}`);
  faults.push(...windowFaults(headers, status));
  if (method === 'HEAD') return text === '' ? faults : [...faults, 'an answer to HEAD has a body'];
  if (status < 400) return faults;
  const error = v.safeParse(errorBodySchema, parsed(text));
  if (!error.success) return [...faults, `no Error body: ${text.slice(0, 200)}`];
  const { code, status: inBody } = error.output;
  return inBody === status && errorCatalogue[code].status === status ? faults : [...faults, `${status} with ${text}`];
}

/** `X-RateLimit-*` tell of one window, the other limit headers of both: they must tell the same. */
function windowFaults(headers: Headers, status: number): string[] {
  const [quotas = [], left = []] = ['RateLimit-Policy', 'RateLimit'].map((name) =>
    [...(headers.get(name) ?? '').matchAll(/;[qr]=(\d+);[wt]=\d+/g)].map(([, count = '']) => count),
  );
  const hasQuota = quotas.includes(headers.get('X-RateLimit-Limit') ?? 'none');
  // A suspended key has nothing left in any window, whatever its counters say.
  const hasLeft = status === TOO_MANY || left.includes(headers.get('X-RateLimit-Remaining') ?? 'none');
  return hasQuota && hasLeft ? [] : ['X-RateLimit-* and RateLimit tell of different windows'];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
