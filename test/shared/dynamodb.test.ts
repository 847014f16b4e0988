import { InternalServerError, ResourceNotFoundException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  type ClientOptions,
  documentClient,
  isResponseLost,
  isThrottled,
  isUnavailable,
  readWithRetries,
  responseTo,
} from '../../shared/dynamodb.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { pointSdkAt } from '../support/engines.ts';
import { UNPARSABLE_RESPONSE } from '../support/faulty-engine.ts';
import { acceptForeignErrors } from '../support/foreign-errors.ts';
import { failureOf, reply, ScriptedServer, type ServerStep } from './client/scripted-server.ts';

acceptForeignErrors();

const GET = { TableName: 'keys', Key: { recordId: 'ab' } };

/** The client of a server that does this with each request. */
async function clientOf(step: ServerStep, options?: ClientOptions) {
  const server = await ScriptedServer.start(step);
  pointSdkAt(new URL(server.baseUrl));
  return { client: documentClient(options), requests: server.requests };
}

describe('The DynamoDB client', () => {
  test('returns numbers with all digits, and does not change the options for them', async () => {
    const N = '9223372036854775807';
    const { client } = await clientOf(reply(200, { Item: { petId: { N } } }));

    expect(await client.send(new GetCommand(GET))).toMatchObject({ Item: { petId: { value: N } } });
    // The SDK writes defaults of its own into the options object that it is given.
    expect(unmarshall({ petId: { N } }, exactNumbers)).toMatchObject({ petId: { value: N } });
  });

  test('treats a response that cannot be parsed as lost, but not a call that is never sent', async () => {
    const { client, requests } = await clientOf((response) => void response.socket?.end(UNPARSABLE_RESPONSE));
    const unparsable = await failureOf(client.send(new GetCommand(GET)));
    const unsent = await failureOf(client.send(new GetCommand({ ...GET, Key: { recordId: [undefined] } })));

    expect(unparsable).toMatchObject({ code: expect.stringMatching(/^HPE_/) });
    expect([unparsable, unsent].map(isResponseLost)).toEqual([true, false]);
    expect([unparsable, unsent].map(isUnavailable)).toEqual([true, false]);
    expect(requests).toHaveLength(1);
  });
});

const metadata = { message: 'x', $metadata: {} };
const named = (name: string) => Object.assign(new Error('x'), { name });
const fault = new InternalServerError(metadata);

describe('A failed call', () => {
  test.each<[string, unknown]>([
    ['an error of DynamoDB', fault],
    ['throttling', new ThrottlingException(metadata)],
    ['a timeout', Object.assign(named('TimeoutError'), { $metadata: {} })],
    ['a conflict of transactions', named('TransactionConflict')],
    ['a refused connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })],
  ])('returns SERVICE_UNAVAILABLE with Retry-After: 1 after %s', (_, cause) => {
    const unavailable = { code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' }, cause };
    expect(isUnavailable(cause)).toBe(true);
    expect(responseTo(cause)).toMatchObject(unavailable);
  });

  test.each<[string, unknown]>([
    ['a missing table', new ResourceNotFoundException(metadata)],
    ['a bug', new TypeError('x is undefined')],
    ["middy's timeout of a function", named('TimeoutError')],
    ['a value that is no error', 'x'],
    ['a transaction of an invalid form', named('ValidationError')],
  ])('returns INTERNAL_ERROR after %s', (_, cause) => {
    expect(isUnavailable(cause)).toBe(false);
    expect(responseTo(cause)).toMatchObject({ code: 'INTERNAL_ERROR', cause });
  });

  test('is called throttled only if it was', () => {
    const names = ['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict', 'ConditionalCheckFailed'];
    expect(names.map(named).map(isThrottled)).toEqual([true, true, false, false]);
  });
});

test('A read has at most three attempts if DynamoDB is unavailable', async () => {
  const readAfter = (failures: number): Promise<number> => {
    let attempts = 0;
    return readWithRetries(async () => {
      attempts += 1;
      if (attempts > failures) return attempts;
      throw fault;
    });
  };

  expect(await readAfter(2)).toBe(3);
  await expect(readAfter(3)).rejects.toBe(fault);
});
