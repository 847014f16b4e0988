import { createServer, type RequestListener, type Server } from 'node:http';
import { InternalServerError, ResourceNotFoundException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  documentClient,
  isConnectionGone,
  isResponseLost,
  isUnavailable,
  reachingDynamoDB,
  readWithRetries,
} from '../../shared/dynamodb.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { localEndpoint, pointSdkAt } from '../support/engines.ts';
import { UNPARSABLE_RESPONSE } from '../support/faulty-engine.ts';
import { acceptForeignErrors } from '../support/foreign-errors.ts';
import { close, listen } from '../support/listening.ts';

acceptForeignErrors();

const $metadata = {};
const GET = { TableName: 'keys', Key: { recordId: 'ab' } };

const withProperties = (error: Error, properties: object): Error => Object.assign(error, properties);

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

describe('the DynamoDB client', () => {
  let server: Server | undefined;

  afterEach(async () => {
    server?.closeAllConnections();
    if (server) await close(server);
    server = undefined;
  });

  async function respondWith(listener: RequestListener): Promise<void> {
    server = createServer(listener);
    pointSdkAt(localEndpoint(await listen(server)));
  }

  test('keeps all digits of numbers, and the options for that', async () => {
    const N = '9223372036854775807';
    await respondWith((_, response) => void response.end(JSON.stringify({ Item: { petId: { N } } })));
    const client = documentClient({ requestTimeout: 1_000 });

    expect((await client.send(new GetCommand(GET))).Item).toMatchObject({ petId: { value: N } });
    // The SDK writes defaults of its own into the options object that it is given.
    expect(unmarshall({ petId: { N } }, exactNumbers)).toMatchObject({ petId: { value: N } });
  });

  test('treats a response that cannot be parsed as lost, but not an error before sending', async () => {
    let calls = 0;
    await respondWith((_, response) => void (calls++, response.socket?.end(UNPARSABLE_RESPONSE)));
    const client = documentClient();
    const unparsable = await failureOf(client.send(new GetCommand(GET)));
    const unsent = await failureOf(client.send(new GetCommand({ ...GET, Key: { recordId: [undefined] } })));

    expect(unparsable).toMatchObject({ code: expect.stringMatching(/^HPE_/) });
    expect([unparsable, unsent].map(isResponseLost)).toEqual([true, false]);
    expect([unparsable, unsent].map(isUnavailable)).toEqual([true, false]);
    expect(calls).toBe(1);
  });

  test('waits for a response at most its timeout', async () => {
    await respondWith(() => undefined);
    const start = Date.now();
    const failure = await failureOf(documentClient({ requestTimeout: 200 }).send(new GetCommand(GET)));

    expect(isUnavailable(failure)).toBe(true);
    expect(isConnectionGone(failure)).toBe(false);
    expect(Date.now() - start).toBeLessThan(2_000);
  });
});

describe('a failure of DynamoDB or its connection', () => {
  test.each<[string, unknown]>([
    ['a fault of its own', new InternalServerError({ message: 'x', $metadata })],
    ['throttling', new ThrottlingException({ message: 'x', $metadata })],
    ['a connection that takes too long', withProperties(new Error('x'), { name: 'TimeoutError', $metadata })],
    ['a refused connection', withProperties(new Error('x'), { code: 'ECONNREFUSED' })],
  ])('returns SERVICE_UNAVAILABLE with a Retry-After of a second: %s', async (_, cause) => {
    expect(isUnavailable(cause)).toBe(true);
    await expect(reachingDynamoDB(Promise.reject(cause))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      headers: { 'Retry-After': '1' },
      cause,
    });
  });

  test.each<[string, unknown]>([
    ['a missing table', new ResourceNotFoundException({ message: 'x', $metadata })],
    ['an error of our own', new TypeError('x is undefined')],
    ['no error at all', 'x'],
  ])('is passed on if a retry cannot help: %s', async (_, error) => {
    expect(isUnavailable(error)).toBe(false);
    await expect(reachingDynamoDB(Promise.reject(error))).rejects.toBe(error);
  });
});

test('a read is tried at most three times', async () => {
  const fault = new InternalServerError({ message: 'x', $metadata });
  const readAfter = (failures: number): Promise<number> => {
    let attempts = 0;
    return readWithRetries(() => {
      attempts += 1;
      return attempts > failures ? Promise.resolve(attempts) : Promise.reject(fault);
    });
  };

  expect(await readAfter(2)).toBe(3);
  await expect(readAfter(3)).rejects.toBe(fault);
});
