import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { integrate, integrateStreaming } from '../../../../infra/local/gateway/integration.ts';
import { answering, streaming, testFunctions } from '../test-functions.ts';

const metadata = { statusCode: 200, headers: { 'X-Id': 'ä' } };

const deploy = testFunctions();

let notices = '';
beforeEach(() => {
  notices = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((line) => Boolean((notices += String(line))));
});
afterEach(() => void jest.restoreAllMocks());

const json = ['Content-Type', 'application/json'];
/** The delimiter in the source of a function. */
const delimiter = String.raw`\0`.repeat(8);

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });
const responseTo = async (source: string) => {
  const { status, headers, body } = await integrateStreaming(deploy(source), '{}', 10_000);
  return { status, headers, body: await text(body) };
};

/** Metadata and delimiter of so many bytes together, and a body. */
const ofLength = (bytes: number) => {
  const head = '{"statusCode":200}';
  return streaming(`stream.end('${head}' + ' '.repeat(${bytes - head.length - 8}) + '${delimiter}[1]');`);
};

describe('what a function streams', () => {
  test('may be split anywhere, within a letter of the metadata and within the delimiter too', async () => {
    const whole = `Buffer.from('${JSON.stringify(metadata)}${delimiter}[1]')`;
    const source = streaming(`for (const byte of ${whole}) await write(Buffer.of(byte)); stream.end();`);

    expect(await responseTo(source)).toMatchObject({ headers: [json, ['X-Id', 'ä']], body: '[1]' });
  });

  test.each([
    ['too long', ofLength(16 * 1024 + 1)],
    ['never sent, since there is no body', streaming('stream.end();', metadata)],
  ])('is a 502 where the metadata is %s', async (_, source) => {
    await expect(responseTo(source)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });
});

test('A result of a function has all that API Gateway takes; its lists of values win', async () => {
  const headers = { 'X-One': 1, 'x-two': 'replaced' };
  const result = { statusCode: 200, headers, multiValueHeaders: { 'X-Two': ['a', 'b'] }, isBase64Encoded: false };

  expect((await integrate(deploy(answering(result)), '{}', 10_000)).headers).toEqual([
    json,
    ['X-One', '1'],
    ['X-Two', 'a'],
    ['X-Two', 'b'],
  ]);
});

test.each([
  [{ statusCode: 600 }, 'statusCode must be <=599'],
  [{ statusCode: 200, body: { quantity: 5 } }, 'body must be string'],
  [{ statusCode: 200, quantity: 5 }, 'quantity must be never'],
])('A result of a function that is malformed is a 502: %j; the terminal says why', async (result, reason) => {
  const lambda = deploy(answering(result));
  await expect(integrate(lambda, '{}', 10_000)).rejects.toEqual(gatewayError('DEFAULT_5XX'));

  expect(notices).toBe(`${lambda.name} returned a malformed Lambda proxy response: ${reason}\n`);
});

test.each([
  ['', integrate, 'exports.handler = () => new Promise(() => {});'],
  [' that streams', integrateStreaming, streaming('await new Promise(() => {});')],
])('A function%s that takes too long is not waited for', async (_, call, source) => {
  await expect(call(deploy(source), '{}', 100)).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
});

test('The body of an integration that outlasts its time-out fails', async () => {
  // With so little time to answer, loading the function would be all that it does.
  const lambda = deploy(streaming(`if (event.load) return stream.end(); await write('[1,');`, metadata));
  await lambda.invoke('{"load":true}');
  const { body } = await integrateStreaming(lambda, '{}', 300);

  await expect(text(body)).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
});
