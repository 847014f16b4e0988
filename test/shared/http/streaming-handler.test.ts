import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { StreamedReply } from '../../../shared/http/reply.ts';
import { streamingHandler } from '../../../shared/http/streaming-handler.ts';
import { admittedContext, admittedHeaders, aProxyEvent } from '../../support/proxy-event.ts';
import { recordRequestLines } from '../../support/request-lines.ts';
import { streamedAnswer } from '../../support/streamed-answer.ts';

recordRequestLines();

const own = { 'X-API-Stability': 'beta' };

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
  delete process.env.PAGE_ORIGIN;
});

const answerTo = (respond: (event: APIGatewayProxyEvent) => Promise<StreamedReply>, event = aProxyEvent()) =>
  streamedAnswer(streamingHandler(respond, own), event);

describe('An answer that is streamed', () => {
  test.each<[string, () => string | Readable, string]>([
    ['text', () => '[1,2]', '[1,2]'],
    ['no text', () => '', ''],
    ['long text', () => 'ä'.repeat(50_000), 'ä'.repeat(50_000)],
    ['a stream', () => Readable.from(['[1', ',2]']), '[1,2]'],
    ['an empty stream', () => Readable.from([]), ''],
  ])('has its head and its body: %s', async (_, bodyOf, text) => {
    const answer = await answerTo(() => Promise.resolve({ status: 200, headers: { Vary: 'x' }, body: bodyOf() }));

    expect(answer).toMatchObject({ statusCode: 200, failure: undefined });
    expect(answer.headers).toEqual({ 'Content-Type': 'application/json', Vary: 'x', ...own, ...admittedHeaders });
    expect(answer.text === text).toBe(true);
  });

  test('lets the reference page read it', async () => {
    process.env.PAGE_ORIGIN = 'https://docs.example.com';
    const { headers } = await answerTo(() => Promise.resolve({ status: 200, body: '' }));

    expect(headers).toMatchObject({ 'Access-Control-Allow-Origin': 'https://docs.example.com' });
  });

  test('whose stream fails fails with it, after what had come', async () => {
    const failure = new Error('x');
    const answer = await answerTo(() =>
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
    const answer = await answerTo(async () => {
      throw thrown;
    });

    expect(answer).toMatchObject({ statusCode, headers: { ...own, ...admittedHeaders }, failure: undefined });
    expect(JSON.parse(answer.text)).toMatchObject({ code, status: statusCode });
    expect(answer.text).not.toContain('secret');
  });

  test.each([
    ['a request that the authorizer refused', { ...admittedContext, outcome: 'RATE_LIMIT_EXCEEDED' }, 429],
    ['a request without a verdict', {}, 500],
  ])('keeps it from the operation: %s', async (_, authorizer, statusCode) => {
    const respond = jest.fn(() => Promise.resolve({ status: 200, body: '' }));
    const answer = await answerTo(respond, aProxyEvent({ authorizer }));

    expect(answer).toMatchObject({ statusCode, headers: own });
    expect(respond).not.toHaveBeenCalled();
  });
});
