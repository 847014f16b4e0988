import * as v from 'valibot';
import { errorCatalog, type ErrorCode } from '../../shared/contract/errors.ts';
import { REVALIDATED } from '../../shared/http/response-headers.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The Error body: exactly these fields. */
export const errorBodySchema = v.strictObject({
  code: v.custom<ErrorCode>((value) => typeof value === 'string' && value in errorCatalog),
  message: v.pipe(v.string(), v.minLength(1)),
  status: v.number(),
});

/**
 * What is wrong with a response beside what the document says of it; empty where nothing is. Every response of the API
 * promises this, whatever the request: a request id, headers for browsers, limit headers that agree, and for an error
 * the Error body with the very status of the response, and a link to what the page says of it.
 *
 * @param hasPage whether a reference page is known to be deployed: without one, errors have no link
 */
export function brokenPromises({ status, headers, text }: RawResponse, method: string, hasPage = true): string[] {
  const isKept = headers.get('Cache-Control') === REVALIDATED;
  const mayBeKept = ['GET', 'HEAD'].includes(method) && status < 400 && headers.has('ETag');
  const always = ['x-amzn-RequestId', 'Access-Control-Allow-Origin'];
  const faults = [
    ...always.filter((name) => !headers.has(name)).map((name) => `the header ${name} is missing`),
    ...windowFaults(headers, status),
    ...(isKept === mayBeKept ? [] : [`Cache-Control is ${headers.get('Cache-Control')}`]),
  ];
  if (method === 'HEAD') return text === '' ? faults : [...faults, 'a response to HEAD has a body'];
  if (status < 400) return faults;
  const error = v.safeParse(v.pipe(v.string(), v.parseJson(), errorBodySchema), text);
  const isRight = error.success && error.output.status === status && errorCatalog[error.output.code].status === status;
  if (!isRight) return [...faults, `${status} without its Error body: ${text.slice(0, 200)}`];
  const help = helpOf(headers);
  const leadsOn = help?.endsWith(`/errors.html#${error.output.code}`) ?? !hasPage;
  return leadsOn ? faults : [...faults, `the Link to ${help} does not lead to what the page says of the error`];
}

/** Where an error leads to; undefined where no page is deployed. */
export const helpOf = (headers: Headers): string | undefined =>
  /<([^<>]+)>; rel="help"$/.exec(headers.get('Link') ?? '')?.[1];

/** `X-RateLimit-*` are of one window, the other limit headers of both: they must agree. */
function windowFaults(headers: Headers, status: number): string[] {
  const limit = headers.get('X-RateLimit-Limit') ?? 'none';
  const isUncounted = status === 503 && limit === '0';
  if (isUncounted || headers.get('X-RateLimit-Reset') === '0')
    return headers.has('RateLimit') ? ['RateLimit is there though the limits are not known'] : [];
  const [quotas = [], left = []] = ['RateLimit-Policy', 'RateLimit'].map((name) =>
    [...(headers.get(name) ?? '').matchAll(/;[qr]=(\d+);[wt]=\d+/g)].map(([, count = '']) => count),
  );
  const hasQuota = quotas.includes(limit);
  // A suspended key has nothing left in any window, whatever its counters say.
  const hasLeft = status === 429 || left.includes(headers.get('X-RateLimit-Remaining') ?? 'none');
  return hasQuota && hasLeft ? [] : ['X-RateLimit-* and RateLimit are of different windows'];
}
