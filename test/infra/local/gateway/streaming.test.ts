import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { integrateStreaming } from '../../../../infra/local/gateway/integration.ts';
import { MAX_PAYLOAD_BYTES } from '../../../../infra/local/lambda/invocation.ts';
import {
  admitting,
  aGatewayRequest,
  limitsOfCustomer,
  type LocalApi,
  LocalApis,
  withTimeout,
} from '../../../support/local-api.ts';
import { answering, deployLogging, outcomeOf, streaming, testFunctions } from '../../../support/test-functions.ts';

const apis = new LocalApis();

const metadata = { statusCode: 200, headers: { 'X-Id': 'ä' } };

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
        'X-Id': 'ä',
        'x-amzn-RequestId': aGatewayRequest().id,
        'x-amz-apigw-id': aGatewayRequest().id,
      },
      body: Buffer.from('[1,2]'),
    });
  });
});

describe('an error of the gateway before the answer begins', () => {
  test.each([
    ['throws', streaming(`throw new Error('no');`, metadata)],
    ['sends no metadata', streaming(`stream.end('[1]');`)],
    ['sends metadata without a status', streaming(`stream.end('[1]');`, { headers: {} })],
    ['sends more metadata than API Gateway takes', streaming(`stream.end();`, { ...metadata, x: 'x'.repeat(16_384) })],
    ['does not stream', answering({ statusCode: 200, body: '[1]' })],
  ])('is a 502 with the limit headers for a function that %s', async (_, listInventory) => {
    const answer = await start(listInventory).answer();

    expect(answer).toMatchObject({ status: 502, headers: limitsOfCustomer });
    expect(bodyOf(answer)).toMatchObject({ code: 'BAD_GATEWAY', status: 502 });
  });

  test('is a 504 with the limit headers for a function that takes longer than the integration waits', async () => {
    const answer = await start(streaming('await new Promise(() => {});', metadata), 100).answer();

    expect(answer).toMatchObject({ status: 504, headers: limitsOfCustomer });
    expect(bodyOf(answer)).toMatchObject({ code: 'GATEWAY_TIMEOUT', status: 504 });
  });
});

describe('an error after the answer has begun', () => {
  test.each([
    ['throws', `throw new Error('no');`],
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
});

const deploy = testFunctions();

const NUL = String.raw`\0`;
/** The delimiter in the source of a function. */
const delimiter = NUL.repeat(8);

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });
const integrate = (source: string, timeoutMs = 10_000) => integrateStreaming(deploy(source), '{}', timeoutMs);

/** A function that has been loaded: with little time to answer, loading it would be all that it does. */
async function deployLoaded(steps: string) {
  const lambda = deploy(streaming(`if (event.load) return stream.end(); ${steps}`, metadata));
  await lambda.invoke('{"load":true}');
  return lambda;
}

describe('what a function streams', () => {
  test('may be split anywhere, within a letter of the metadata and within the delimiter too', async () => {
    const whole = `Buffer.from('{"a":"ä"}${delimiter}[1]')`;
    const { metadata: head, body } = await integrate(
      streaming(`for (const byte of ${whole}) await write(Buffer.of(byte)); stream.end();`),
    );

    expect(head).toBe('{"a":"ä"}');
    expect(await text(body)).toBe('[1]');
  });
});

/** Metadata and delimiter of so many bytes together, and a body. */
const ofLength = (bytes: number) => `'"' + 'x'.repeat(${bytes - 2 - 8}) + '"${delimiter}[1]'`;

describe('metadata', () => {
  test.each([
    ['at once', `stream.end(${ofLength(16 * 1024)});`],
    [
      'bit by bit',
      `for (const part of (${ofLength(16 * 1024)}).match(/.{1,5000}/gs)) await write(part); stream.end();`,
    ],
  ])('may have 16 KiB with the delimiter: %s', async (_, steps) => {
    const { metadata: head, body } = await integrate(streaming(steps));

    expect(head).toHaveLength(16 * 1024 - 8);
    expect(await text(body)).toBe('[1]');
  });

  test.each([
    ['too long', streaming(`stream.end(${ofLength(16 * 1024 + 1)});`)],
    ['missing', streaming(`stream.end('[1,2]');`)],
    ['without all of its delimiter', streaming(`stream.end('{"statusCode":200}${NUL.repeat(7)}[1]');`)],
    ['never sent, since there is no body', streaming('stream.end();', metadata)],
    ['in the result of a handler that does not stream', answering({ statusCode: 200, body: '[1]' })],
  ])('is a 502 where it is %s', async (_, source) => {
    await expect(integrate(source)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });
});

describe('a function that fails', () => {
  test('because the event is too long is a 413', async () => {
    const event = JSON.stringify('x'.repeat(MAX_PAYLOAD_BYTES));

    await expect(integrateStreaming(deploy(streaming('')), event, 10_000)).rejects.toEqual(
      gatewayError('REQUEST_TOO_LARGE'),
    );
  });
});

describe('an integration that streams and outlasts its time-out', () => {
  test('has its body fail though nobody reads it', async () => {
    const lambda = await deployLoaded('await write(Buffer.alloc(1_000_000)); stream.end();');
    const { body } = await integrateStreaming(lambda, '{}', 300);

    expect((await outcomeOf(body, new Promise(() => undefined))).error).toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });

  test.each([
    ['before the metadata', `await sleep(300);`, ''],
    ['after the metadata', `await write(''); await sleep(300);`, ''],
  ])('lets its function run on to its end: %s', async (_, steps) => {
    const source = streaming(
      `${steps} for (let chunk = 0; chunk < 20; chunk++) await write(Buffer.alloc(100_000)); console.log('done.');
       stream.end();`,
      metadata,
    );
    const { lambda, logs } = deployLogging(deploy, source);
    await integrateStreaming(lambda, '{}', 100).catch(() => undefined);

    await expect(logs('done.')).resolves.toBeUndefined();
  });
});
