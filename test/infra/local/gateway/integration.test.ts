import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
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
const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });
const responseTo = async (source: string) => {
  const { status, headers, body } = await integrateStreaming(deploy(source), '{}', 10_000);
  return { status, headers, body: await text(body) };
};

test('The metadata of a streamed response becomes its status and headers', async () => {
  const source = streaming(`await write('[1,'); await write(Buffer.from('2]')); stream.end();`, metadata);

  expect(await responseTo(source)).toEqual({ status: 200, headers: [json, ['X-Id', 'ä']], body: '[1,2]' });
});

test.each([
  ['without metadata', streaming(`stream.end('[1]');`)],
  ['with metadata that is never sent, since there is no body', streaming('stream.end();', metadata)],
  ['from a function that does not stream', answering(metadata)],
])('A streamed response %s is a 502', async (_, source) => {
  await expect(responseTo(source)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
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

test('The body of an integration that outlasts its timeout fails', async () => {
  // With so little time to answer, loading the function would be all that it does.
  const lambda = deploy(streaming(`if (event.load) return stream.end(); await write('[1,');`, metadata));
  await text(lambda.stream('{"load":true}'));
  const { body } = await integrateStreaming(lambda, '{}', 300);

  await expect(text(body)).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
});
