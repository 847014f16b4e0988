import dns from 'node:dns';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { isResponseLost, isConnectionGone, isThrottled, isUnavailable, wasRefused } from '../../../shared/dynamodb.ts';
import { clientOfFunctions, pointSdkAt, testClient } from '../../support/engines.ts';
import { newClient as clientOfSdk } from '../../support/store-client.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { UNPARSABLE_RESPONSE } from '../../support/faulty-engine.ts';
import { HANG_MS } from '../../support/until.ts';
import { failureOf, reply, ScriptedServer, type ServerStep } from '../../shared/client/scripted-server.ts';

acceptForeignErrors();

const SETTINGS = { connectionTimeout: HANG_MS, requestTimeout: HANG_MS };
const GET = new GetCommand({ TableName: 'pets', Key: { petId: 42n } });
const UPDATE = new UpdateCommand({ TableName: 'pets', Key: { petId: 9_223_372_036_854_775_807n } });

const newClient = (): DynamoDBDocumentClient => clientOfFunctions(SETTINGS);

const fails = (status: number, type: string): ServerStep =>
  reply(status, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'a fault' });

const FOUND = reply(200, { Item: { petId: { N: '42' } } });

/** Puts a server with this script in the place of DynamoDB. @returns what it receives */
async function serve(step: ServerStep) {
  const { baseUrl, requests } = await ScriptedServer.start(step);
  pointSdkAt(new URL(baseUrl));
  return requests;
}

afterEach(() => {
  for (const name of ['AWS_SESSION_TOKEN', '_X_AMZN_TRACE_ID']) delete process.env[name];
});

/** The properties of a failure that the stores check. */
const kindOf = (failure: unknown) => ({
  unavailable: isUnavailable(failure),
  throttled: isThrottled(failure),
  refused: wasRefused(failure),
  lost: isResponseLost(failure),
  gone: isConnectionGone(failure),
});

const NONE = { unavailable: false, throttled: false, refused: false, lost: false, gone: false };
const THROTTLED = { ...NONE, unavailable: true, throttled: true, refused: true };
const LOST = { ...NONE, unavailable: true, lost: true };

const int64 = 2n ** 63n - 1n;
const values = { int64, name: '', none: null, left: undefined, tags: new Set(['a']), map: { list: [1.5, true] } };
const attributes = {
  int64: { N: `${int64}` },
  none: { NULL: true },
  set: { NS: ['1'] },
  map: { M: { list: { L: [] } } },
};

/** Sends a byte every 20 ms, and no end. */
const drip: ServerStep = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 20);
  response.once('close', () => clearInterval(timer));
};

/** A call of each operation, whose tables have names of members, and the output of DynamoDB. */
const exchanges: readonly [string, (client: DynamoDBDocumentClient) => Promise<object>, object][] = [
  ['Get', (client) => client.send(new GetCommand({ TableName: 'Key', Key: values })), { Item: attributes }],
  [
    'BatchGet',
    (client) =>
      client.send(new BatchGetCommand({ RequestItems: { a: { Keys: [values, values] }, Keys: { Keys: [values] } } })),
    {
      Responses: { a: [attributes], Keys: [] },
      UnprocessedKeys: { Keys: { Keys: [attributes], ConsistentRead: true } },
    },
  ],
  [
    'Query',
    (client) =>
      client.send(new QueryCommand({ TableName: 'a', ExpressionAttributeValues: values, ExclusiveStartKey: values })),
    { Items: [attributes, {}], Count: 2, LastEvaluatedKey: attributes },
  ],
  [
    'Update',
    (client) => client.send(new UpdateCommand({ TableName: 'a', Key: values, ExpressionAttributeValues: values })),
    { Attributes: attributes },
  ],
  [
    'TransactWrite',
    (client) => {
      const Put = { TableName: 'a', Item: values, ExpressionAttributeValues: values };
      const Update = { TableName: 'Item', Key: values, UpdateExpression: 'x', ExpressionAttributeValues: values };
      return client.send(new TransactWriteCommand({ TransactItems: [{ Put }, { Update }], ClientRequestToken: 'b' }));
    },
    {},
  ],
];

describe.each([
  ['the functions', clientOfFunctions],
  ['the SDK', clientOfSdk],
])('A write of the client of %s', (_, clientOf) => {
  test.each<[string, ServerStep]>([
    ['without a response', () => undefined],
    ['whose response stalls', (response) => void response.writeHead(200).write('{')],
    ['whose response drips', drip],
    ['whose response is cut', (response) => void response.writeHead(200).write('{', () => response.destroy())],
  ])('%s ends, and may have been applied: its connection was not stale', async (__, step) => {
    await serve(step);

    expect(kindOf(await failureOf(clientOf({ ...SETTINGS, requestTimeout: 1_000 }).send(UPDATE)))).toEqual(LOST);
  });
});

describe('The minimal DynamoDB client', () => {
  test.each(exchanges)('converts values of a %s as the SDK does, and sends the same call', async (_, send, output) => {
    const requests = await serve(reply(200, output));
    const ours = await send(newClient());
    const theirs = await send(testClient());
    const [call, whole] = requests.map(({ headers, body }) => ({
      target: headers['x-amz-target'],
      type: headers['content-type'],
      body: JSON.parse(body),
    }));

    expect(theirs).toEqual({ $metadata: expect.anything(), ...ours });
    expect(call).toEqual(whole);
  });

  test.each([
    ['binary values', { petId: Buffer.from('42') }, 'no binary values'],
    ['undefined values within others', { petId: 42, tags: [undefined] }, 'remove undefined values'],
  ])('refuses %s before it sends a request', async (_, Key, message) => {
    const requests = await serve(FOUND);
    const failure = await failureOf(newClient().send(new UpdateCommand({ TableName: 'pets', Key })));

    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
    expect(isUnavailable(failure)).toBe(false);
    expect(requests).toEqual([]);
  });

  test('signs with the credentials of its environment, and sends the trace header', async () => {
    const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
    Object.assign(process.env, { AWS_SESSION_TOKEN: 'a token', _X_AMZN_TRACE_ID: trace });
    const requests = await serve(FOUND);
    await newClient().send(GET);
    const [request] = requests;

    expect(request?.headers).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=local\/\d{8}\/eu-central-1\/dynamodb\/aws4_request, SignedHeaders=\S*;host;\S*x-amz-target\S*, Signature=[0-9a-f]{64}$/,
      ),
      'x-amz-security-token': 'a token',
      'x-amzn-trace-id': trace,
    });
    expect(request?.headers['authorization']).not.toContain('trace');
  });

  test.each([
    ['dynamodb.cn-north-1.amazonaws.com.cn', { AWS_REGION: 'cn-north-1', URL_SUFFIX: 'amazonaws.com.cn' }],
    ['emulator.example', { AWS_ENDPOINT_URL: 'https://emulator.example' }],
  ])('calls the endpoint %s with %j', async (host, variables) => {
    const { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION } = process.env;
    Object.assign(process.env, variables);
    delete process.env['AWS_ENDPOINT_URL_DYNAMODB'];
    const asked: string[] = [];
    const refuse = (name: string, _: unknown, found: (error: Error) => void): void => {
      asked.push(name);
      found(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
    };
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation(Object.assign(refuse, dns.lookup));
    const failure = await failureOf(newClient().send(GET));
    lookup.mockRestore();
    delete process.env['AWS_ENDPOINT_URL'];
    Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION });

    expect(asked).toEqual([host]);
    expect(kindOf(failure)).toEqual({ ...NONE, unavailable: true, refused: true });
  });

  test.each<[string, ServerStep, Partial<typeof NONE>, string]>([
    ['throttling', fails(400, 'ThrottlingException'), THROTTLED, 'ThrottlingException'],
    ['an internal server error', fails(500, 'InternalServerError'), LOST, 'InternalServerError'],
    ['a missing permission', fails(400, 'AccessDeniedException'), NONE, 'AccessDeniedException'],
  ])('classifies %s by the name of the error', async (_, step, kind, name) => {
    const requests = await serve(step);
    const failure = await failureOf(newClient().send(GET));

    expect(failure).toMatchObject({ name, message: 'a fault' });
    expect(kindOf(failure)).toEqual({ ...NONE, ...kind });
    expect(requests).toHaveLength(1);
  });

  test.each<[string, ServerStep]>([
    ['a 503 page', (response) => void response.writeHead(503).end('<html>')],
    ['nothing and closes the connection', (response) => void response.destroy()],
    ['a response that cannot be parsed', (response) => void response.socket?.end(UNPARSABLE_RESPONSE)],
    ['an attribute of an unknown type', reply(200, { Attributes: { petId: { X: '42' } } })],
    ['a body that is not an object', (response) => void response.writeHead(200).end('null')],
    ['a 408 page', (response) => void response.writeHead(408).end('<html>')],
    ['a 413 without an error type', reply(413, { message: 'too large' })],
  ])('treats the response as lost when an intermediary sends %s', async (_, step) => {
    await serve(step);

    expect(kindOf(await failureOf(newClient().send(UPDATE)))).toMatchObject({ unavailable: true, lost: true });
  });

  test('reuses a connection only if it was idle for less than 20 seconds', async () => {
    const connections: unknown[] = [];
    await serve((response) => {
      connections.push(response.socket?.remotePort);
      FOUND(response);
    });
    const client = newClient();
    let now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    for (const idleMs of [0, 19_999, 20_000]) {
      now += idleMs;
      await client.send(GET);
    }
    jest.restoreAllMocks();
    const [first, second, third] = connections;

    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('drops all idle connections when one was closed, so that only one call fails', async () => {
    const connections = new Set<unknown>();
    let isClosing = false;
    await serve((response) => {
      if (isClosing && connections.has(response.socket?.remotePort)) return response.destroy();
      connections.add(response.socket?.remotePort);
      return FOUND(response);
    });
    const client = newClient();
    await Promise.all([client.send(GET), client.send(GET), client.send(GET)]);
    expect(connections.size).toBe(3);
    isClosing = true;

    expect(kindOf(await failureOf(client.send(GET)))).toMatchObject({ gone: true });
    expect(await client.send(GET)).toHaveProperty('Item');
  });
});
