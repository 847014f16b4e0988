import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { operationHandler, type Reply, streamingHandler } from '../../../shared/http/operation-handler.ts';
import {
  admittedContext,
  admittedHeaders,
  admittedHeaders as limitHeaders,
  aProxyEvent,
  lambdaContext,
  streamedAnswer,
} from '../../support/proxy-event.ts';
import { recordRequestLines } from '../../support/request-lines.ts';

recordRequestLines();

const ok: Reply = { status: 200, body: '[]' };

let log: jest.SpiedFunction<typeof console.error>;

beforeEach(() => {
  log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

const answerTo = (event: APIGatewayProxyEvent, respond: (event: APIGatewayProxyEvent) => Promise<Reply>) =>
  operationHandler(respond)(event, lambdaContext);

const answerThrowing = (thrown: unknown) =>
  answerTo(aProxyEvent(), async () => {
    throw thrown;
  });

const errorBody = (body: string): unknown => JSON.parse(body);

describe('an answer of an operation', () => {
  test('is its reply as JSON with the limit headers (spec §8, rule 1)', async () => {
    expect(await answerTo(aProxyEvent(), () => Promise.resolve({ status: 200, body: '[{"petId":1}]' }))).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', ...limitHeaders },
      body: '[{"petId":1}]',
    });
  });
});

describe('an answer to HEAD', () => {
  test.each<[string, () => Promise<Reply>, number]>([
    ['an answer', () => Promise.resolve(ok), 200],
    ['an error', () => Promise.reject(new ServiceError('PET_NOT_FOUND')), 404],
  ])('is that to GET without the body: %s', async (_, respond, statusCode) => {
    const answer = await answerTo(aProxyEvent({ method: 'HEAD' }), respond);

    expect(answer).toEqual({ ...(await answerTo(aProxyEvent(), respond)), statusCode, body: '' });
  });
});

describe('an error that an operation throws', () => {
  test.each<[ErrorCode, number]>([
    ['INVALID_BODY', 400],
    ['PET_NOT_FOUND', 404],
    ['METHOD_NOT_ALLOWED', 405],
    ['INTERNAL_ERROR', 500],
    ['SERVICE_UNAVAILABLE', 503],
  ])('%s is %d with an Error body and the limit headers', async (code, status) => {
    const answer = await answerThrowing(new ServiceError(code, { message: 'What happened.' }));

    expect(answer).toMatchObject({
      statusCode: status,
      headers: { 'Content-Type': 'application/json', ...limitHeaders },
    });
    expect(errorBody(answer.body)).toEqual({ code, message: 'What happened.', status });
  });

  test('that is the fault of the client is not logged', async () => {
    await answerThrowing(new ServiceError('INVALID_BODY', { cause: new SyntaxError('x') }));

    expect(log).not.toHaveBeenCalled();
  });

  test('that is our fault is logged with its cause and the request', async () => {
    await answerThrowing(new ServiceError('SERVICE_UNAVAILABLE', { cause: new Error('connect ECONNREFUSED') }));

    expect(log.mock.calls).toEqual([[expect.stringMatching(/SERVICE_UNAVAILABLE.*connect ECONNREFUSED/)]]);
    expect(log.mock.calls).toEqual([[expect.stringContaining('c6af9ac6-7b61-11e6-9a41-93e8deadbeef')]]);
  });
});

describe('an error that nobody expected', () => {
  test.each<[string, unknown]>([
    ['an Error', new Error('secret of table keys-4711')],
    ['an Error that middy would answer itself', Object.assign(new Error('secret'), { statusCode: 418, expose: true })],
    ['text', 'secret'],
    ['nothing', undefined],
  ])('is a 500 that says nothing of it: %s', async (_, thrown) => {
    const answer = await answerThrowing(thrown);

    expect(answer).toEqual({
      statusCode: 500,
      headers: { 'Content-Type': 'application/json', ...limitHeaders },
      body: '{"code":"INTERNAL_ERROR","message":"The service failed to answer this request.","status":500}',
    });
  });
});

describe('a request that the authorizer refused', () => {
  const refusedContext = { ...admittedContext, remaining: '0', retryAfter: '17' };

  test.each<[ErrorCode, number]>([
    ['RATE_LIMIT_EXCEEDED', 429],
    ['DAILY_QUOTA_EXCEEDED', 429],
    ['API_KEY_SUSPENDED', 429],
    ['SERVICE_UNAVAILABLE', 503],
  ])('%s is %d with Retry-After and the limit headers (spec §7, rule 1)', async (code, status) => {
    const event = aProxyEvent({ authorizer: { ...refusedContext, outcome: code } });
    const answer = await answerTo(event, () => Promise.resolve(ok));

    expect(answer).toMatchObject({
      statusCode: status,
      headers: {
        'Content-Type': 'application/json',
        'Retry-After': '17',
        ...limitHeaders,
        'X-RateLimit-Remaining': '0',
      },
    });
    expect(errorBody(answer.body)).toMatchObject({ code, status });
  });
});

describe('a request without a verdict', () => {
  test.each([
    ['no authorizer', null],
    ['an outcome that does not exist', { ...admittedContext, outcome: 'admitted' }],
  ])('is a 500 and never reaches the operation: %s', async (_, authorizer) => {
    const respond = jest.fn(() => Promise.resolve(ok));
    const answer = await answerTo(aProxyEvent({ authorizer }), respond);

    expect(answer.statusCode).toBe(500);
    expect(errorBody(answer.body)).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(respond).not.toHaveBeenCalled();
  });
});

describe('the headers of an operation', () => {
  const own = { 'X-API-Stability': 'beta', Link: '<https://example.com>; rel="sunset"' };

  test.each<[string, () => Promise<Reply>, number]>([
    ['an answer', () => Promise.resolve(ok), 200],
    ['an error', () => Promise.reject(new ServiceError('PET_NOT_FOUND')), 404],
    ['a fault', () => Promise.reject(new Error('x')), 500],
  ])('are on %s', async (_, respond, statusCode) => {
    const answer = await operationHandler(respond, own)(aProxyEvent(), lambdaContext);

    expect(answer).toMatchObject({ statusCode, headers: { ...own, ...limitHeaders } });
  });

  test('are on the answer to a request that the authorizer refused', async () => {
    const event = aProxyEvent({ authorizer: { ...admittedContext, outcome: 'RATE_LIMIT_EXCEEDED' } });
    const answer = await operationHandler(() => Promise.resolve(ok), own)(event, lambdaContext);

    expect(answer).toMatchObject({ statusCode: 429, headers: own });
  });

  test('never hide the limits', async () => {
    const headers = { 'X-RateLimit-Limit': '1000000', RateLimit: 'none' };
    const answer = await operationHandler(() => Promise.resolve({ ...ok, headers }), headers)(
      aProxyEvent(),
      lambdaContext,
    );

    expect(answer.headers).toMatchObject(limitHeaders);
  });
});

describe('CORS', () => {
  afterEach(() => {
    delete process.env.PAGE_ORIGIN;
  });

  test.each<[string, () => Promise<Reply>]>([
    ['an answer', () => Promise.resolve(ok)],
    ['an error', () => Promise.reject(new ServiceError('PET_NOT_FOUND'))],
    ['a fault', () => Promise.reject(new Error('x'))],
  ])('lets the reference page read %s', async (_, respond) => {
    process.env.PAGE_ORIGIN = 'https://docs.example.com';
    const answer = await answerTo(aProxyEvent(), respond);

    expect(answer.headers).toMatchObject({
      'Access-Control-Allow-Origin': 'https://docs.example.com',
      'Access-Control-Expose-Headers': expect.stringContaining('RateLimit-Policy'),
    });
  });
});

describe('CORS of a service that pages of several origins may call', () => {
  afterEach(() => {
    delete process.env.ALLOWED_ORIGINS;
  });

  test.each([
    ['https://shop.example.com', 'https://shop.example.com'],
    ['https://docs.example.com', 'https://docs.example.com'],
    ['https://evil.example.com', 'https://docs.example.com'],
  ])('a page of %s gets an answer for %s', async (origin, allowed) => {
    process.env.ALLOWED_ORIGINS = 'https://docs.example.com https://shop.example.com https://app.example.com';
    const answer = await answerTo(aProxyEvent({ headers: { origin } }), () => Promise.resolve(ok));

    expect(answer.headers).toMatchObject({ 'Access-Control-Allow-Origin': allowed });
  });
});

const own = { 'X-API-Stability': 'beta' };

const streamed = (respond: (event: APIGatewayProxyEvent) => Promise<Reply<string | Readable>>, event = aProxyEvent()) =>
  streamedAnswer(streamingHandler(respond, own), event);

describe('An answer that is streamed', () => {
  test.each<[string, () => string | Readable, string]>([
    ['text', () => '[1,2]', '[1,2]'],
    ['a stream', () => Readable.from(['[1', ',2]']), '[1,2]'],
  ])('has its head and its body: %s', async (_, bodyOf, text) => {
    const answer = await streamed(() => Promise.resolve({ status: 200, headers: { Vary: 'x' }, body: bodyOf() }));

    expect(answer).toMatchObject({ statusCode: 200, failure: undefined });
    expect(answer.headers).toEqual({ 'Content-Type': 'application/json', Vary: 'x', ...own, ...admittedHeaders });
    expect(answer.text === text).toBe(true);
  });

  test('whose stream fails fails with it, after what had come', async () => {
    const failure = new Error('x');
    const answer = await streamed(() =>
      Promise.resolve({
        status: 200,
        body: Readable.from(
          (async function* () {
            yield '[1';
            await new Promise((resolve) => setImmediate(resolve));
            throw failure;
          })(),
        ),
      }),
    );

    expect(answer).toMatchObject({ statusCode: 200, text: '[1', failure });
  });
});

describe('What goes wrong before an answer is streamed', () => {
  test.each<[string, unknown, number, string]>([
    ['an error of the catalogue', new ServiceError('INVALID_CURSOR'), 400, 'INVALID_CURSOR'],
    ['an error that nobody expected', new Error('secret'), 500, 'INTERNAL_ERROR'],
  ])('is an Error body: %s', async (_, thrown, statusCode, code) => {
    const answer = await streamed(async () => {
      throw thrown;
    });

    expect(answer).toMatchObject({ statusCode, headers: { ...own, ...admittedHeaders }, failure: undefined });
    expect(JSON.parse(answer.text)).toMatchObject({ code, status: statusCode });
    expect(answer.text).not.toContain('secret');
  });
});
