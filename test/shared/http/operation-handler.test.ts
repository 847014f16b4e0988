import { describe, expect, test } from '@jest/globals';
import { type ErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { contextOf, uncountedContext } from '../../../shared/http/authorizer-result.ts';
import { responseTo as responseToFailure } from '../../../shared/dynamodb.ts';
import { operationHandler, type Reply, streamingHandler } from '../../../shared/http/operation-handler.ts';
import { limitHeaders, unknownLimitHeaders } from '../../../shared/http/response-headers.ts';
import { limitRefusal } from '../../../shared/keys/verdict.ts';
import {
  admittedContext,
  admittedHeaders,
  admittedLimits,
  aProxyEvent,
  responseTo,
} from '../../support/proxy-event.ts';
import { recordFaults, recordRequestLines } from '../../support/request-lines.ts';
import { aKey, tokenOf } from '../../support/tables.ts';
import { streamedResponse } from './streamed-response.ts';

const lines = recordRequestLines();
const faults = recordFaults();
const store = { probes: [], responseTo: responseToFailure };
const own = { 'X-API-Stability': 'beta', Link: '<https://example.com>; rel="sunset"' };

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Respond = () => Promise<Reply>;

const atOnce = (respond: Respond, event = aProxyEvent(), headers: Record<string, string> = own): Promise<Answer> =>
  responseTo(operationHandler(respond, { headers, store }).handler, event);

async function streamed(respond: Respond, event = aProxyEvent()): Promise<Answer> {
  const { handler } = streamingHandler(respond, { headers: own, store });
  const { statusCode, headers, text, failure } = await streamedResponse(handler, event);
  if (failure !== undefined) throw failure;
  return { statusCode, headers, body: text };
}

const ok: Respond = async () => ({ status: 200, headers: { ETag: '"1"' }, body: '[{"petId":1}]' });
const failing =
  (thrown: unknown): Respond =>
  async () => {
    throw thrown;
  };
const unexpected = new Error('secret');
const ofAnotherLibrary = Object.assign(new Error('secret'), { statusCode: 418, expose: true });

describe.each([
  ['returns its whole response', atOnce],
  ['streams its response', streamed],
])('An operation that %s', (_, invoke) => {
  test('returns its reply as JSON, with its own headers and the limits, which it cannot override', async () => {
    const reply = await ok();
    const overriding = { ...reply, headers: { ...reply.headers, RateLimit: 'none' } };

    expect(await invoke(() => Promise.resolve(overriding))).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', ETag: '"1"', ...own, ...admittedHeaders },
      body: '[{"petId":1}]',
    });
  });

  test('returns 304 without a media type', async () => {
    const { headers } = await invoke(async () => ({ ...(await ok()), status: 304, body: '' }));
    expect(headers).toEqual({ ETag: '"1"', ...own, ...admittedHeaders });
  });

  test('returns the same for HEAD as for GET, without the body', async () => {
    expect(await invoke(ok, aProxyEvent({ method: 'HEAD' }))).toEqual({ ...(await invoke(ok)), body: '' });
  });

  test.each<[string, unknown, number, ErrorCode]>([
    ['400 for a ServiceError', new ServiceError('INVALID_BODY', { cause: unexpected }), 400, 'INVALID_BODY'],
    ['500 for an unexpected error', unexpected, 500, 'INTERNAL_ERROR'],
    ['500 for an error with a status of its own', ofAnotherLibrary, 500, 'INTERNAL_ERROR'],
  ])('returns an Error body without its cause: %s', async (__, thrown, status, code) => {
    const { statusCode, headers, body } = await invoke(failing(thrown));

    expect(statusCode).toBe(status);
    expect(headers).toEqual({ 'Content-Type': 'application/json', ...own, ...admittedHeaders });
    expect(JSON.parse(body)).toEqual({ code, status, message: expect.not.stringContaining('secret') });
    expect(lines()).toMatchObject([{ status: String(status), code, keyId: 'k3y1d', token: 'main/ly02' }]);
    expect(lines()[0]).not.toHaveProperty('reason');
  });

  test('logs the cause of a 503 with the request id, and no cause of a 400', async () => {
    await invoke(failing(new ServiceError('INVALID_BODY', { cause: new SyntaxError('x') })));
    await invoke(failing(Object.assign(new TypeError('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })));
    await invoke(failing(Object.assign(new Error('invalid'), { name: 'ValidationError' })));

    expect(lines().map(({ status, cause }) => [status, cause])).toEqual([
      ['400', undefined],
      ['503', 'TypeError'],
      ['500', 'ValidationError'],
    ]);
    expect(faults()[0]).toEqual([expect.stringMatching(/7b4b5a2e-0d5c.*SERVICE_UNAVAILABLE.*ECONNREFUSED/)]);
  });
});

test('With a reference page, an error links to its documentation, after the link of the operation', async () => {
  process.env['PAGE_ORIGIN'] = 'https://docs.example.com';
  const error = failing(new ServiceError('PET_NOT_FOUND'));
  const answers = await Promise.all([own, {}].map((headers) => atOnce(error, aProxyEvent(), headers)));
  delete process.env['PAGE_ORIGIN'];

  const help = '<https://docs.example.com/errors.html#PET_NOT_FOUND>; rel="help"';
  expect(answers.map(({ headers }) => headers['Link'])).toEqual([`${own.Link}, ${help}`, help]);
});

test('A request that cannot be counted is logged without a key', async () => {
  const authorizer = { ...admittedContext, outcome: 'SERVICE_UNAVAILABLE', principalId: 'uncounted' };
  await atOnce(ok, aProxyEvent({ authorizer }));

  expect(lines()).toMatchObject([{ operation: 'listInventory', keyId: 'none', plan: 'none', coldStart: true }]);
});

/** What the last release's authorizer sets: replace it with that of this release once that is the last. */
const lastUncounted = { outcome: 'ADMITTED', limit: '60', remaining: '42', reset: '1749990900', retryAfter: '1' };
const lastRelease = {
  ...lastUncounted,
  recordId: 'petstoreinventory0123456789abcdef',
  plan: 'free',
  access: 'full',
  rateLimitPolicy: '"minute";q=60;w=60, "day";q=1000;w=86400',
  rateLimit: '"minute";r=42;t=30, "day";r=900;t=41130',
};

describe.each([
  ['PATCH', '/inventory/{petId}'],
  ['POST', '/inventory/{petId}/adjustments'],
])('An update with %s %s', (method, resource) => {
  test.each([
    ['full access', admittedContext, 200],
    ['full access from the last release', lastRelease, 200],
    ['read access', { ...admittedContext, access: 'read' }, 403],
    ['read access from the last release', { ...lastRelease, access: 'read' }, 403],
    ['unknown access', { ...admittedContext, access: 'append' }, 403],
    ['no access', { ...admittedContext, access: undefined }, 403],
  ])('by a token with %s returns its status', async (_, authorizer, status) => {
    const { statusCode, headers, body } = await atOnce(ok, aProxyEvent({ method, resource, authorizer }));

    expect(statusCode).toBe(status);
    expect(headers).toMatchObject(own);
    expect(body.includes('TOKEN_READ_ONLY')).toBe(status === 403);
    // A list is read in any case.
    expect(await atOnce(ok, aProxyEvent({ authorizer }))).toMatchObject({ statusCode: 200 });
  });
});

describe('A query parameter', () => {
  const { handler } = operationHandler(ok, { parameters: ['limit', 'status'] });
  const long = `\\"\\n${'x'.repeat(38)}…`;

  test.each([
    ...['Limit', '__proto__', 'a.b', ''].map((name) => [name, `limit=1&${name}=1`]),
    [long, `%22%0A${'x'.repeat(5_000)}=1`],
  ])('that the operation does not have returns 400, whose message names it: %s', async (name, query) => {
    const { body }: Answer = await responseTo(handler, aProxyEvent({ query }));
    const message = `The parameter "${name}" is unknown: listInventory has limit, status.`;

    expect(JSON.parse(body)).toEqual({ code: 'INVALID_QUERY', status: 400, message });
  });

  test('that it has is left to it', async () => {
    expect(await responseTo(handler, aProxyEvent({ query: 'status=&limit=x' }))).toMatchObject({ statusCode: 200 });
  });
});

describe('A refused request', () => {
  test.each([
    ['RATE_LIMIT_EXCEEDED', admittedContext, 429],
    ['API_KEY_SUSPENDED', lastRelease, 429],
    ['SERVICE_UNAVAILABLE', lastRelease, 503],
  ])('returns the error of its verdict: %s', async (outcome, context, status) => {
    const authorizer = { ...context, outcome, remaining: '0', retryAfter: '17', plan: 'pro' };
    const { headers, body } = await atOnce(ok, aProxyEvent({ authorizer }));

    const limits = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0' };
    expect(headers).toMatchObject({ ...own, ...limits, 'Retry-After': '17' });
    expect(JSON.parse(body)).toMatchObject({ code: outcome, status });
    expect(lines()).toMatchObject([{ status: String(status), code: outcome, reason: outcome, plan: 'pro' }]);
  });

  test.each([
    ['without a verdict', null, '1', 'none'],
    ['past the authorizer, by the test button of the console', undefined, '1', 'none'],
    ['by a later release', { ...admittedContext, outcome: 'KEY_PAUSED', retryAfter: '17' }, '17', 'KEY_PAUSED'],
  ])('%s returns 503, and is logged', async (_, authorizer, retryAfter, outcome) => {
    const event = aProxyEvent();
    const response = await atOnce(ok, { ...event, requestContext: { ...event.requestContext, authorizer } });

    expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': retryAfter } });
    expect(faults()).toEqual([[expect.stringContaining(`Unknown outcome of the authorizer: ${outcome}`)]]);
    expect(lines()).toMatchObject([{ status: '503' }]);
  });
});

test.each(Object.keys(admittedContext))('A missing or numeric %s in the context has a safe default', async (name) => {
  for (const value of [undefined, 5]) {
    const authorizer = { ...admittedContext, more: 'x', [name]: value };
    const { statusCode, headers } = await atOnce(ok, aProxyEvent({ authorizer }));

    expect(statusCode).toBe(name === 'outcome' ? 503 : 200);
    const [missing = ''] = Object.entries(limitHeaders).find(([, source]) => source === name) ?? [];
    const { [missing]: _missing, ...others }: Record<string, string> = admittedLimits;
    const safe: Record<string, string> = unknownLimitHeaders;
    expect(headers).toMatchObject(others);
    expect(headers[missing]).toBe(safe[missing]);
  }
});

/** Any text for each name. */
const textOf = (context: object) => Object.fromEntries(Object.keys(context).map((name) => [name, expect.any(String)]));

test('The authorizer sets each value that functions of the last release read, as text', () => {
  const now = Date.UTC(2025, 5, 15, 12, 34, 30);
  const key = aKey({ currentMinute: now / 60_000 - 0.5 });
  const { hash } = tokenOf(key);
  const states = [{ dayUsed: 1_000 }, { minuteUsed: 60 }, { suspendedUntil: now + 1 }];
  const refusals = states.map((state) => limitRefusal({ ...key, ...state }, now));

  for (const verdict of [{ kind: 'admitted', key } as const, ...refusals])
    expect(contextOf(verdict, hash, now)).toMatchObject(textOf(lastRelease));
  expect(uncountedContext(now)).toMatchObject(textOf(lastUncounted));
});
