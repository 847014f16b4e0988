import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import tls from 'node:tls';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { isResponseLost, isConnectionGone, isThrottled, isUnavailable, wasRefused } from '../../../shared/dynamodb.ts';
import { clientOfFunctions, localEndpoint, pointSdkAt } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { UNPARSABLE_RESPONSE } from '../../support/faulty-engine.ts';
import { close, freePort, listen } from '../../support/listening.ts';
import { type Answer, json, ScriptedDynamoDB } from '../../support/scripted-dynamodb.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startTlsProxy } from '../../bench/cold/tls-proxy.ts';

acceptForeignErrors();

const SETTINGS = { connectionTimeout: 200, requestTimeout: 400, socketTimeout: 400, throwOnRequestTimeout: true };
const GET = new GetCommand({ TableName: 'pets', Key: { petId: 42n } });
const UPDATE = new UpdateCommand({ TableName: 'pets', Key: { petId: 9_223_372_036_854_775_807n } });

const newClient = (): DynamoDBDocumentClient => clientOfFunctions(SETTINGS);

const fails = (status: number, type: string, rest: object = {}): Answer =>
  json(status, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'a fault', ...rest });

const FOUND = json(200, { Item: { petId: { N: '9223372036854775807' }, tags: { L: [{ S: 'a' }, { NULL: true }] } } });

const server = new ScriptedDynamoDB(FOUND);

afterEach(() => {
  for (const name of ['AWS_SESSION_TOKEN', 'AWS_LAMBDA_FUNCTION_NAME', '_X_AMZN_TRACE_ID']) delete process.env[name];
});

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

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

describe('The minimal DynamoDB client', () => {
  const directory = temporaryDirectory();

  test('sends DynamoDB JSON, and preserves the digits of numbers in both directions', async () => {
    const { Item } = await newClient().send(GET);
    await newClient().send(UPDATE);

    expect(Item).toMatchObject({ petId: { value: '9223372036854775807' }, tags: ['a', null] });
    expect(server.calls.map(({ body }) => body)).toEqual([
      '{"TableName":"pets","Key":{"petId":{"N":"42"}}}',
      '{"TableName":"pets","Key":{"petId":{"N":"9223372036854775807"}}}',
    ]);
    expect(server.calls[0]?.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
    });
  });

  test('signs with the credentials of its environment, and sends the trace header', async () => {
    const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
    const variables = { AWS_SESSION_TOKEN: 'a token', AWS_LAMBDA_FUNCTION_NAME: 'f', _X_AMZN_TRACE_ID: trace };
    Object.assign(process.env, variables);
    await newClient().send(GET);

    expect(server.calls[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=local\/\d{8}\/eu-central-1\/dynamodb\/aws4_request, SignedHeaders=\S*;host;\S*x-amz-target\S*, Signature=[0-9a-f]{64}$/,
      ),
      'x-amz-security-token': 'a token',
      'x-amzn-trace-id': trace,
    });
    expect(server.calls[0]?.headers['authorization']).not.toContain('trace');
  });

  test.each([
    [
      'of eu-central-1',
      { AWS_REGION: 'eu-central-1', URL_SUFFIX: 'amazonaws.com' },
      'dynamodb.eu-central-1.amazonaws.com',
    ],
    [
      'of another partition',
      { AWS_REGION: 'cn-north-1', URL_SUFFIX: 'amazonaws.com.cn' },
      'dynamodb.cn-north-1.amazonaws.com.cn',
    ],
    ['of AWS_ENDPOINT_URL', { AWS_ENDPOINT_URL: 'https://emulator.example' }, 'emulator.example'],
  ])('calls the endpoint %s', async (_title, variables, host) => {
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

  test.each<[string, Answer, Partial<typeof NONE>, string]>([
    ['throttling', fails(400, 'ThrottlingException'), THROTTLED, 'ThrottlingException'],
    ['an internal server error', fails(500, 'InternalServerError'), LOST, 'InternalServerError'],
    ['a missing permission', fails(400, 'AccessDeniedException'), NONE, 'AccessDeniedException'],
  ])('classifies %s by the name of the error', async (_, reply, kind, name) => {
    server.responses = [reply];
    const failure = await failureOf(newClient().send(GET));

    expect(failure).toMatchObject({ name, message: 'a fault' });
    expect(kindOf(failure)).toEqual({ ...NONE, ...kind });
    expect(server.calls).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['a 503 page', (response) => void response.writeHead(503).end('<html>')],
    [
      'a truncated response',
      (response) => void response.writeHead(200, { 'content-length': 99 }).write('{"It', () => response.destroy()),
    ],
    ['nothing and closes the connection', (response) => void response.destroy()],
    ['a response that cannot be parsed', (response) => void response.socket?.end(UNPARSABLE_RESPONSE)],
    ['an attribute of an unknown type', json(200, { Attributes: { petId: { X: '42' } } })],
    ['a body that is not an object', (response) => void response.writeHead(200).end('null')],
    ['a 408 page', (response) => void response.writeHead(408).end('<html>')],
    ['a 413 without an error type', json(413, { message: 'too large' })],
  ])('treats the response as lost when an intermediary sends %s', async (_, reply) => {
    server.responses = [reply];

    expect(kindOf(await failureOf(newClient().send(UPDATE)))).toMatchObject({ unavailable: true, lost: true });
  });

  test('treats the response as lost when a TLS record is broken', async () => {
    const proxy = await startTlsProxy(localEndpoint(server.port), directory);
    const callers: Socket[] = [];
    const front = createServer((caller) => {
      callers.push(caller);
      pipeline(caller, connect(Number(proxy.endpoint.port)), caller).catch(() => undefined);
    });
    pointSdkAt(new URL(`https://localhost:${await listen(front)}`));
    server.responses = [() => callers[0]?.write('not a TLS record')];
    const trusted = tls.getCACertificates();
    tls.setDefaultCACertificates([readFileSync(proxy.certificateFile, 'utf8')]);
    const failure = await failureOf(clientOfFunctions({ requestTimeout: 20_000 }).send(UPDATE));
    tls.setDefaultCACertificates(trusted);
    pointSdkAt(localEndpoint(server.port));
    callers[0]?.destroy();
    await Promise.all([close(front), proxy.close()]);

    expect(failure).toMatchObject({ code: expect.stringMatching(/^ERR_SSL_/) });
    expect(kindOf(failure)).toEqual(LOST);
    expect(server.calls).toHaveLength(1);
  });

  test('times out on a missing or partial response, and reports a refused connection as refused', async () => {
    server.responses = [() => undefined, (response) => void response.writeHead(200).write('{"Item"')];
    const client = clientOfFunctions({ ...SETTINGS, requestTimeout: 200, socketTimeout: 200 });
    const failures = [await failureOf(client.send(UPDATE)), await failureOf(client.send(UPDATE))];
    expect(failures.map(kindOf)).toMatchObject([LOST, { unavailable: true, lost: true }]);

    pointSdkAt(localEndpoint(await freePort()));
    const failure = await failureOf(newClient().send(GET));
    pointSdkAt(localEndpoint(server.port));
    expect(kindOf(failure)).toEqual({ ...NONE, unavailable: true, refused: true });
  });

  test('reuses one connection, and detects on the next call that it is closed', async () => {
    const client = newClient();
    for (let call = 0; call < 3; call++) await client.send(GET);
    expect(new Set(server.calls.map(({ connection }) => connection)).size).toBe(1);

    // As after a freeze: the server has closed it, and this process has not yet looked.
    server.responses = [(response) => void response.socket?.destroy()];
    expect(kindOf(await failureOf(client.send(GET)))).toMatchObject({ gone: true });
    expect(await client.send(GET)).toHaveProperty('Item');
  });

  test('reuses a connection only if it was idle for less than 20 seconds', async () => {
    const client = newClient();
    let now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    for (const idleMs of [0, 19_999, 20_000]) {
      now += idleMs;
      await client.send(GET);
    }
    jest.restoreAllMocks();
    const [first, second, third] = server.calls.map(({ connection }) => connection);

    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('drops all idle connections when one was closed, so that only one call fails', async () => {
    const client = newClient();
    await Promise.all([client.send(GET), client.send(GET), client.send(GET)]);
    const closed = new Set(server.calls.map(({ connection }) => connection));
    expect(closed.size).toBe(3);
    const reply: Answer = (response) =>
      closed.has(response.socket?.remotePort) ? void response.socket?.destroy() : FOUND(response);
    server.responses = Array.from({ length: 9 }, () => reply);

    expect(kindOf(await failureOf(client.send(GET)))).toMatchObject({ gone: true });
    expect(await client.send(GET)).toHaveProperty('Item');
  });
});
