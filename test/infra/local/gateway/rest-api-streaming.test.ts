import type { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { admitting, denial, limitsOfCustomer } from '../../../support/authorizer-answers.ts';
import { aGatewayRequest } from '../../../support/gateway-request.ts';
import { withTimeout } from '../../../support/integration-timeout.ts';
import { type LocalApi, LocalApis } from '../../../support/local-api.ts';
import { outcomeOf } from '../../../support/stream-outcome.ts';
import { answering, streaming } from '../../../support/test-functions.ts';

const apis = new LocalApis();

const metadata = { statusCode: 200, headers: { 'X-Id': '1' } };

function start(listInventory: string, timeoutMs = 29_000): LocalApi {
  return apis.start({ authorizer: admitting, listInventory }, withTimeout(timeoutMs));
}

const bodyOf = (answer: { readonly body: Buffer }): unknown => JSON.parse(answer.body.toString());

/** An answer that has begun. */
async function begin({ restApi }: LocalApi): Promise<{ status: number; body: Readable }> {
  const { status, body } = await restApi.answer(aGatewayRequest());
  if (Buffer.isBuffer(body)) throw new Error('The answer is not streamed');
  return { status, body };
}

describe('an answer that is streamed', () => {
  test('has its status and headers from the metadata, and its request id, as any other', async () => {
    const answer = await start(streaming(`await write('[1,'); stream.end('2]');`, metadata)).answer();

    expect(answer).toEqual({
      status: 200,
      headers: {
        'Content-Type': 'application/json',
        'X-Id': '1',
        'x-amzn-RequestId': aGatewayRequest().id,
        'x-amz-apigw-id': aGatewayRequest().id,
      },
      body: Buffer.from('[1,2]'),
    });
  });

  test('comes from a function that gets what any other gets', async () => {
    const api = start(streaming(`stream.end(JSON.stringify(event));`, metadata));

    expect(bodyOf(await api.answer({ query: 'limit=2' }))).toMatchObject({
      resource: '/inventory',
      httpMethod: 'GET',
      queryStringParameters: { limit: '2' },
      requestContext: { stage: 'v1', authorizer: { principalId: 'k1' } },
    });
  });

  test('passes on binary bytes as they are, though the API has no binary media types', async () => {
    const zipped = gzipSync('[1,2]').toString('base64');
    const api = start(streaming(`stream.end(Buffer.from('${zipped}', 'base64'));`, metadata));
    const { body } = await api.answer();

    expect(gunzipSync(body).toString()).toBe('[1,2]');
  });

  test('may be longer than any other', async () => {
    const api = start(
      streaming(
        'for (let chunk = 0; chunk < 10; chunk++) await write(Buffer.alloc(1_000_000)); stream.end();',
        metadata,
      ),
    );

    expect((await api.answer()).body).toHaveLength(10_000_000);
  });

  test('is for admitted requests only: no function is asked for a denied one', async () => {
    const api = apis.start({ authorizer: answering(denial), listInventory: streaming('process.exit(1);') });

    expect(await api.answer()).toMatchObject({ status: 401 });
  });
});

describe('an error of the gateway before the answer begins', () => {
  test.each([
    ['throws', streaming(`throw new Error('no');`, metadata)],
    ['exits', streaming('process.exit(1);', metadata)],
    ['sends no metadata', streaming(`stream.end('[1]');`)],
    ['sends metadata that is none', streaming(`stream.end('[1]');`, 'metadata')],
    ['sends metadata without a status', streaming(`stream.end('[1]');`, { headers: {} })],
    ['sends more metadata than API Gateway takes', streaming(`stream.end();`, { ...metadata, x: 'x'.repeat(16_384) })],
    ['does not stream', answering({ statusCode: 200, body: '[1]' })],
    ['cannot be loaded', `throw new Error('no');`],
  ])('is a 502 with the limit headers for a function that %s', async (_, listInventory) => {
    const answer = await start(listInventory).answer();

    expect(answer).toMatchObject({ status: 502, headers: limitsOfCustomer });
    expect(bodyOf(answer)).toMatchObject({ code: 'BAD_GATEWAY', status: 502 });
  });

  test('is a 502 for a function that streams where the API calls it for its result', async () => {
    const updateInventory = streaming(`stream.end('{}');`, metadata);
    const api = apis.start({ authorizer: admitting, updateInventory });

    expect(await api.answer({ method: 'PATCH', path: '/inventory/42' })).toMatchObject({ status: 502 });
  });

  test('is a 504 with the limit headers for a function that takes longer than the integration waits', async () => {
    const answer = await start(streaming('await new Promise(() => {});', metadata), 100).answer();

    expect(answer).toMatchObject({ status: 504, headers: limitsOfCustomer });
    expect(bodyOf(answer)).toMatchObject({ code: 'GATEWAY_TIMEOUT', status: 504 });
  });

  test('does not hold up the requests after it, however much the function streams', async () => {
    const api = start(
      streaming('for (let chunk = 0; chunk < 20; chunk++) await write(Buffer.alloc(100_000)); stream.end();', {
        headers: {},
      }),
    );
    // Three times as many as a function has environments.
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.answer()));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([502]));
  });
});

describe('an error after the answer has begun', () => {
  test.each([
    ['throws', `throw new Error('no');`],
    ['exits', 'process.exit(1);'],
    ['takes longer than the integration waits', 'await new Promise(() => {});'],
  ])('has the stream fail, so that nobody takes a part for the whole: the function %s', async (_, steps) => {
    const listInventory = streaming(
      `if (event.queryStringParameters) return stream.end(''); await write('[1,'); ${steps}`,
      metadata,
    );
    const api = start(listInventory, 1_000);
    // Loads the function, which may take as long.
    await api.answer({ query: 'load' });
    const { status, body } = await begin(api);
    const { given, error } = await outcomeOf(body);

    expect(status).toBe(200);
    expect(() => JSON.parse(given)).toThrow(SyntaxError);
    expect(error).toBeInstanceOf(Error);
  });
});

/** A line of the access log. */
const entry = (differences: object) => ({
  requestId: aGatewayRequest().id,
  time: '21/Nov/2026:09:30:00 +0000',
  ip: '203.0.113.7',
  method: 'GET',
  resource: '/inventory',
  milliseconds: expect.stringMatching(/^-?\d+$/),
  integrationMilliseconds: expect.stringMatching(/^\d+$/),
  keyId: 'k1',
  plan: '-',
  outcome: 'ADMITTED',
  gatewayError: '-',
  ...differences,
});

describe('the access log', () => {
  test('has a line for a streamed answer, with all of its bytes', async () => {
    const api = start(streaming(`await write('[1,'); stream.end('"ä"]');`, metadata));
    await api.answer();

    expect(await api.accessLog()).toEqual([entry({ status: '200', bytes: '8' })]);
  });

  test('has it at the end of the stream, not before', async () => {
    const api = start(streaming(`await write('[1,'); await sleep(200); stream.end('2]');`, metadata));
    const { body } = await begin(api);
    await api.answer({ bodyTooLarge: true });
    await outcomeOf(body);

    expect(await api.accessLog()).toMatchObject([{ status: '413' }, { status: '200', bytes: '5' }]);
  });

  test('has one for a stream that broke off, with the bytes up to there', async () => {
    const api = start(streaming(`await write('[1,'); await sleep(200); throw new Error('no');`, metadata));
    await outcomeOf((await begin(api)).body);

    expect(await api.accessLog()).toEqual([entry({ status: '200', bytes: '3' })]);
  });

  test.each([
    ['before its first byte', 0],
    ['in the middle', 1],
  ])('has one for a stream whose reader has left %s', async (_, chunks) => {
    const api = start(streaming(`await write('[1,'); await new Promise(() => {});`, metadata));
    const { body } = await begin(api);
    for (let chunk = 0; chunk < chunks; chunk++) await body[Symbol.asyncIterator]().next();
    body.destroy();
    await new Promise((resolve) => body.once('close', resolve));

    expect(await api.accessLog()).toMatchObject([{ status: '200', bytes: expect.stringMatching(/^[03]$/) }]);
  });
});
