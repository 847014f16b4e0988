import { Readable } from 'node:stream';
import { describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { operationHandler, type Reply, streamingHandler } from '../../../shared/http/operation-handler.ts';
import { admittedContext, admittedHeaders, responseTo, aProxyEvent } from '../../support/proxy-event.ts';
import { streamedResponse } from './streamed-response.ts';
import { recordFaults, recordRequestLines } from '../../support/request-lines.ts';

const lines = recordRequestLines();
const faults = recordFaults();
const own = { 'X-API-Stability': 'beta', Link: '<https://example.com>; rel="sunset"' };

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Respond = () => Promise<Reply>;

const atOnce = (respond: Respond, event = aProxyEvent()): Promise<Answer> =>
  responseTo(operationHandler(respond, { headers: own }).handler, event);

async function streamed(respond: Respond, event = aProxyEvent()): Promise<Answer> {
  const { statusCode, headers, text, failure } = await streamedResponse(
    streamingHandler(respond, { headers: own }).handler,
    event,
  );
  if (failure !== undefined) throw failure;
  return { statusCode, headers, body: text };
}

const ok: Respond = () =>
  Promise.resolve({ status: 200, headers: { ETag: '"1"', RateLimit: 'none' }, body: '[{"petId":1}]' });
const failing =
  (thrown: unknown): Respond =>
  async () => {
    throw thrown;
  };
const eventWith = (differences: Readonly<Record<string, unknown>>): APIGatewayProxyEvent =>
  aProxyEvent({ authorizer: { ...admittedContext, ...differences } });

describe.each([
  ['returns immediately', atOnce],
  ['streams', streamed],
])('an operation that %s', (_, invoke) => {
  test('returns its reply as JSON, with the limits and its own headers', async () => {
    expect(await invoke(ok)).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', ETag: '"1"', ...own, ...admittedHeaders },
      body: '[{"petId":1}]',
    });
  });

  test.each([ok, failing(new ServiceError('PET_NOT_FOUND'))])(
    'returns the same for HEAD as for GET, without the body',
    async (respond) => {
      const response = await invoke(respond, aProxyEvent({ method: 'HEAD' }));

      expect(response).toEqual({ ...(await invoke(respond)), body: '' });
    },
  );

  test.each<[string, unknown, number, ErrorCode]>([
    ['one of the client', new ServiceError('INVALID_BODY', { cause: new SyntaxError('secret') }), 400, 'INVALID_BODY'],
    ['an unexpected one', new Error('secret'), 500, 'INTERNAL_ERROR'],
    [
      'one that middy would handle',
      Object.assign(new Error('secret'), { statusCode: 418, expose: true }),
      500,
      'INTERNAL_ERROR',
    ],
  ])('returns an error as its Error body: %s', async (__, thrown, status, code) => {
    const response = await invoke(failing(thrown));

    expect(response).toMatchObject({
      statusCode: status,
      headers: { 'Content-Type': 'application/json', ...own, ...admittedHeaders },
    });
    expect(JSON.parse(response.body)).toEqual({ code, status, message: expect.not.stringContaining('secret') });
    expect(lines()).toMatchObject([{ status: String(status), code, keyId: 'k3y1d', token: 'main/ly02' }]);
    expect(lines()[0]).not.toHaveProperty('reason');
  });

  test('links an error to its documentation if there is a page, beside its own link', async () => {
    process.env['PAGE_ORIGIN'] = 'https://docs.example.com';
    try {
      const { headers } = await invoke(failing(new ServiceError('PET_NOT_FOUND')));
      expect(headers['Link']).toBe(`${own.Link}, <https://docs.example.com/errors.html#PET_NOT_FOUND>; rel="help"`);
      expect((await invoke(ok)).headers['Link']).toBe(own.Link);
      const { handler } = operationHandler(failing(new ServiceError('PET_NOT_FOUND')));
      const { headers: alone } = await responseTo(handler, aProxyEvent());
      expect(alone['Link']).toBe('<https://docs.example.com/errors.html#PET_NOT_FOUND>; rel="help"');
    } finally {
      delete process.env['PAGE_ORIGIN'];
    }
  });

  test('logs our own faults with cause and request, and no others', async () => {
    await invoke(failing(new ServiceError('INVALID_BODY', { cause: new SyntaxError('x') })));
    expect(faults()).toEqual([]);
    await invoke(failing(new ServiceError('SERVICE_UNAVAILABLE', { cause: new TypeError('connect ECONNREFUSED') })));
    expect(lines().map(({ cause }) => cause)).toEqual([undefined, 'TypeError']);

    expect(faults()).toEqual([[expect.stringMatching(/7b4b5a2e-0d5c.*SERVICE_UNAVAILABLE.*ECONNREFUSED/)]]);
  });

  test('refuses what the authorizer refused, with Retry-After', async () => {
    const [outcome, status] = ['RATE_LIMIT_EXCEEDED', 429];
    const response = await invoke(ok, eventWith({ outcome, remaining: '0', retryAfter: '17', plan: 'pro' }));

    expect(response).toMatchObject({
      statusCode: status,
      headers: { ...own, ...admittedHeaders, 'X-RateLimit-Remaining': '0', 'Retry-After': '17' },
    });
    expect(JSON.parse(response.body)).toMatchObject({ code: outcome, status });
    expect(lines()).toMatchObject([{ status: String(status), code: outcome, reason: outcome, plan: 'pro' }]);
  });

  test('refuses updates by a read-only token, and by one of unknown access', async () => {
    const respond = jest.fn(ok);
    const update = { method: 'PATCH', resource: '/inventory/{petId}', query: 'dryRun' };
    for (const access of ['read', undefined]) {
      const response = await invoke(respond, aProxyEvent({ ...update, authorizer: { ...admittedContext, access } }));
      expect(response).toMatchObject({ statusCode: 403, headers: { ...own, ...admittedHeaders } });
      expect(response.body).toContain('TOKEN_READ_ONLY');
    }
    // Nor one that may do all, with a parameter that no change knows.
    const { body } = await invoke(respond, aProxyEvent(update));
    expect(JSON.parse(body).message).toBe('The parameter "dryRun" is unknown: updates have none.');
    expect(respond).not.toHaveBeenCalled();
    expect(lines()[0]).toMatchObject({ status: '403', code: 'TOKEN_READ_ONLY' });
    // It was admitted, and counted.
    expect(lines()[0]).not.toHaveProperty('reason');
    for (const method of ['GET', 'HEAD'])
      await invoke(respond, aProxyEvent({ method, authorizer: { ...admittedContext, access: 'read' } }));
    expect(respond).toHaveBeenCalledTimes(2);
  });

  test('fails a request without a verdict', async () => {
    const respond = jest.fn(ok);
    const { statusCode, headers } = await invoke(respond, aProxyEvent({ authorizer: null }));

    expect({ statusCode, retryAfter: headers['Retry-After'] }).toEqual({ statusCode: 503, retryAfter: '1' });
    expect(respond).not.toHaveBeenCalled();
    expect(faults()).toEqual([[expect.stringContaining('Unknown outcome of the authorizer')]]);
    expect(lines()).toMatchObject([{ status: '503' }]);
  });
});

test('the log line of a request that could not be counted has no key', async () => {
  await atOnce(ok, eventWith({ outcome: 'SERVICE_UNAVAILABLE', principalId: 'uncounted' }));

  expect(lines()).toMatchObject([{ operation: 'listInventory', keyId: 'none', plan: 'none', coldStart: true }]);
});

test('a stream is logged once it has ended', async () => {
  let linesBefore = -1;
  const parts = async function* () {
    yield '[1';
    await new Promise((resolve) => setImmediate(resolve));
    linesBefore = lines().length;
    yield ']';
  };
  const { handler } = streamingHandler(() => Promise.resolve({ status: 200, body: Readable.from(parts()) }));
  const response = await streamedResponse(handler, aProxyEvent());

  expect(response).toMatchObject({ statusCode: 200, text: '[1]', failure: undefined });
  expect(linesBefore).toBe(0);
  expect(lines()).toMatchObject([{ status: '200' }]);
  expect(lines()[0]).not.toHaveProperty('complete');
});
