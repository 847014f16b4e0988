import { errorCatalog, type ErrorCode } from '../../shared/contract/errors.ts';
import { challenges } from '../../shared/http/authorizer-result.ts';
import { type Check, expectSame, expectThat } from './check.ts';
import type { RequestParts, Service } from './service.ts';

interface Expectation {
  /** Method and path. */
  readonly request: string;
  readonly parts?: RequestParts;
  /** Of a refusal, with the status that the catalog has for it. */
  readonly code?: ErrorCode;
  /** By default 200. */
  readonly status?: number;
  /** Whole values, the empty one of a header that must be missing; or all texts that a value must contain. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: RegExp;
}

/** A petId that no store gives to a pet. */
export const NO_PET = '-9223372036854775808';
const PATCH_NO_PET = `PATCH /inventory/${NO_PET}`;
/** A body beyond the 16 KiB that the service takes. */
const LONG_BODY = JSON.stringify({ quantity: 1, note: 'x'.repeat(17 * 1_024) });

const A_LIST = /^\[.*\]$/s;

const accepting = (encoding: string): RequestParts => ({ headers: { 'Accept-Encoding': encoding } });
export const patch = (body: string, type = 'application/json'): RequestParts => ({
  headers: { 'Content-Type': type },
  body,
});
const denied = (code: keyof typeof challenges) => ({
  code,
  headers: { 'WWW-Authenticate': challenges[code], 'X-RateLimit-Limit': '0' },
});

const readings: Readonly<Record<string, Expectation>> = {
  'status lists only entries with that status': {
    request: 'GET /inventory?limit=10&status=sold',
    body: /^\[(?:\{[^{}]*"status":"sold"[^{}]*\},?)*\]$/,
  },
  'a list is compressed if the client allows it': {
    request: 'GET /inventory?limit=1000',
    parts: accepting('gzip'),
    headers: { 'Content-Encoding': 'gzip', Vary: ['accept-encoding'] },
    body: A_LIST,
  },
  'a list is not compressed unless the client allows it': {
    request: 'GET /inventory?limit=1000',
    parts: accepting('identity'),
    headers: { 'Content-Encoding': '', Vary: ['accept-encoding'] },
    body: A_LIST,
  },
  'GET /store/orders lists orders, marked as beta': {
    request: 'GET /store/orders?limit=1',
    headers: { 'X-API-Stability': 'beta' },
    body: A_LIST,
  },
  'GET /pets/{petId} returns its deprecation and sunset, and refuses an unknown pet': {
    request: `GET /pets/${NO_PET}`,
    code: 'PET_NOT_FOUND',
    headers: { Deprecation: ['@'], Sunset: [' GMT'] },
  },
  'a request without a key is denied': {
    request: 'GET /inventory',
    parts: { key: 'none' },
    ...denied('API_KEY_MISSING'),
  },
  'a mistyped key is denied': { request: 'GET /inventory', parts: { key: 'mistyped' }, ...denied('API_KEY_INVALID') },
  'an unknown path is refused': { request: 'GET /smoke-check', code: 'ROUTE_NOT_FOUND' },
  'an unknown method is refused with the known ones': {
    request: 'DELETE /inventory',
    code: 'METHOD_NOT_ALLOWED',
    headers: { Allow: 'GET, HEAD, PATCH, OPTIONS' },
  },
  'an unknown query parameter is refused': { request: 'GET /key?smoke=1', code: 'INVALID_QUERY' },
  'an invalid limit is refused': { request: 'GET /inventory?limit=0', code: 'INVALID_QUERY' },
  'an invalid cursor is refused': { request: 'GET /inventory?limit=1&cursor=smoke', code: 'INVALID_CURSOR' },
  'a CORS preflight needs no key': {
    request: 'OPTIONS /inventory/1',
    parts: {
      key: 'none',
      headers: { Origin: 'https://smoke.invalid', 'Access-Control-Request-Method': 'PATCH' },
    },
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': ['patch'],
      'Access-Control-Allow-Headers': ['authorization', 'content-type', 'if-match', 'idempotency-key'],
    },
    body: /^$/,
  },
};

/** Updates that the service refuses. None can change anything. */
const refusedUpdates: Readonly<Record<string, Expectation>> = {
  'a petId that is not a number is refused': {
    request: 'PATCH /inventory/smoke',
    parts: patch('{"quantity":1}'),
    code: 'INVALID_PET_ID',
  },
  'an invalid body is refused': { request: PATCH_NO_PET, parts: patch('{"quantity":-1}'), code: 'INVALID_BODY' },
  'a long body is refused': { request: PATCH_NO_PET, parts: patch(LONG_BODY), code: 'PAYLOAD_TOO_LARGE' },
  'a body that is not JSON is refused': {
    request: PATCH_NO_PET,
    parts: patch('{"quantity":1}', 'text/plain'),
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
};

/** Of the value of a header, in characters: longer ones say nothing to a reader of the log. */
const MAX_SHOWN = 40;

export async function expectResponse(service: Service, expectation: Expectation): Promise<string> {
  const { request, parts, code, headers = {}, body } = expectation;
  const { status = code ? errorCatalog[code].status : 200 } = expectation;
  const [method = '', path = ''] = request.split(' ');
  const response = await service.send(method, path, parts);
  expectSame('the status', response.status, status);
  if (code) {
    expectSame('the code', JSON.parse(response.text).code, code);
    expectSame('the Content-Type', response.headers.get('Content-Type'), 'application/json');
  }
  expectThat(body?.test(response.text) ?? true, `the body is ${response.text.slice(0, 120)}`);
  const values = Object.entries(headers).flatMap(([header, expected]) => {
    const value = response.headers.get(header) ?? '';
    if (typeof expected === 'string') expectSame(header, value, expected);
    else
      expectThat(
        expected.every((part) => value.toLowerCase().includes(part.toLowerCase())),
        `${header} is ${value}`,
      );
    const isShort = value !== '' && value.length <= MAX_SHOWN;
    return isShort ? `${header}: ${value}` : [];
  });
  return [code === undefined ? String(status) : `${status} ${code}`, ...values].join(', ');
}

const checksOf = (expectations: Readonly<Record<string, Expectation>>): Check[] =>
  Object.entries(expectations).map(([name, expected]) => ({
    name,
    run: (service) => expectResponse(service, expected),
  }));

export const readingChecks = checksOf(readings);
export const refusedUpdateChecks = checksOf(refusedUpdates);
