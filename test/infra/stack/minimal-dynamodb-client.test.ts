import dns from 'node:dns';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { isResponseLost, isConnectionGone, isThrottled, isUnavailable, wasRefused } from '../../../shared/dynamodb.ts';
import {
  clientOfFunctions,
  describeOnEachEngine,
  localEndpoint,
  pointSdkAt,
  testClient,
} from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { close, freePort, listen } from '../../support/listening.ts';
import { createStockTable } from '../../support/tables.ts';

acceptForeignErrors();

const SETTINGS = { connectionTimeout: 200, requestTimeout: 400, socketTimeout: 400, throwOnRequestTimeout: true };
const GET = new GetCommand({ TableName: 'pets', Key: { petId: 42n } });
const UPDATE = new UpdateCommand({ TableName: 'pets', Key: { petId: 9_223_372_036_854_775_807n } });

interface Call {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Port of the caller: one for each connection. */
  readonly connection: number | undefined;
}

const newClient = (): DynamoDBDocumentClient => clientOfFunctions(SETTINGS);

test('Packages of which the parts import files that are not exported have exact versions', () => {
  const root = path.join(import.meta.dirname, '../../..');
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
  const sources = globSync('infra/stack/minimal-dynamodb-client/*.ts', { cwd: root }).map(read).join('');
  const names = new Set([...sources.matchAll(/'(@[\w-]+\/[\w-]+)\/dist-es/g)].map(([, name]) => name));

  expect(names.size).toBeGreaterThanOrEqual(3);
  for (const name of names) expect(read('package.json')).toMatch(new RegExp(`"${name}": "\\d+\\.\\d+\\.\\d+"`));
});

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: object): Answer =>
  (response) =>
    void response.writeHead(status).end(JSON.stringify(body));

const fails = (status: number, type: string, rest: object = {}): Answer =>
  json(status, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'a fault', ...rest });

const FOUND = json(200, { Item: { petId: { N: '9223372036854775807' }, tags: { L: [{ S: 'a' }, { NULL: true }] } } });

let server: Server;
let port: number;
let responses: Answer[] = [];
let calls: Call[] = [];

beforeAll(async () => {
  server = createServer((request, response) => void take(request, response));
  port = await listen(server);
  pointSdkAt(localEndpoint(port));
});

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await buffer(request)).toString();
  calls.push({ headers: request.headers, body, connection: request.socket.remotePort });
  (responses.shift() ?? FOUND)(response);
}

beforeEach(() => {
  responses = [];
  calls = [];
});

afterEach(() => {
  for (const name of ['AWS_SESSION_TOKEN', 'AWS_LAMBDA_FUNCTION_NAME', '_X_AMZN_TRACE_ID']) delete process.env[name];
});

afterAll(async () => {
  server.closeAllConnections();
  await close(server);
});

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

/** What the stores look at in a failure. */
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

describe('A function with parts of the SDK', () => {
  test('sends DynamoDB its own JSON, and has the digits of numbers as they are, there and back', async () => {
    const { Item } = await newClient().send(GET);
    await newClient().send(UPDATE);

    expect(Item).toMatchObject({ petId: { value: '9223372036854775807' }, tags: ['a', null] });
    expect(calls.map(({ body }) => body)).toEqual([
      '{"TableName":"pets","Key":{"petId":{"N":"42"}}}',
      '{"TableName":"pets","Key":{"petId":{"N":"9223372036854775807"}}}',
    ]);
    expect(calls[0]?.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
    });
  });

  test('signs with the credentials, the region and the session token of its environment, and hands the trace on', async () => {
    const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
    const variables = { AWS_SESSION_TOKEN: 'a token', AWS_LAMBDA_FUNCTION_NAME: 'f', _X_AMZN_TRACE_ID: trace };
    Object.assign(process.env, variables);
    await newClient().send(GET);

    expect(calls[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=local\/\d{8}\/eu-central-1\/dynamodb\/aws4_request, SignedHeaders=\S*;host;\S*x-amz-target\S*, Signature=[0-9a-f]{64}$/,
      ),
      'x-amz-security-token': 'a token',
      'x-amzn-trace-id': trace,
    });
    expect(calls[0]?.headers['authorization']).not.toContain('trace');
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
    ['that all of AWS is at', { AWS_ENDPOINT_URL: 'https://emulator.example' }, 'emulator.example'],
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
    ['too many requests', fails(400, 'ThrottlingException'), THROTTLED, 'ThrottlingException'],
    ['a fault of its own', fails(500, 'InternalServerError'), LOST, 'InternalServerError'],
    ['a right that is missing', fails(400, 'AccessDeniedException'), NONE, 'AccessDeniedException'],
  ])('knows of %s by the name', async (_, reply, kind, name) => {
    responses = [reply];
    const failure = await failureOf(newClient().send(GET));

    expect(failure).toMatchObject({ name, message: 'a fault' });
    expect(kindOf(failure)).toEqual({ ...NONE, ...kind });
    expect(calls).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['503 with a page', (response) => void response.writeHead(503).end('<html>')],
    [
      'a part of a response',
      (response) => void response.writeHead(200, { 'content-length': 99 }).write('{"It', () => response.destroy()),
    ],
    ['nothing, and hangs up', (response) => void response.destroy()],
  ])('takes the response for lost where something in between sends %s', async (_, reply) => {
    responses = [reply];

    expect(kindOf(await failureOf(newClient().send(UPDATE)))).toMatchObject({ unavailable: true, lost: true });
  });

  test('waits as long as it is set to: for a response, for the rest of one, for a connection', async () => {
    responses = [() => undefined, (response) => void response.writeHead(200).write('{"Item"')];
    const client = clientOfFunctions({ ...SETTINGS, requestTimeout: 200, socketTimeout: 200 });
    const failures = [await failureOf(client.send(UPDATE)), await failureOf(client.send(UPDATE))];
    expect(failures.map(kindOf)).toMatchObject([LOST, { unavailable: true, lost: true }]);

    pointSdkAt(localEndpoint(await freePort()));
    const failure = await failureOf(newClient().send(GET));
    pointSdkAt(localEndpoint(port));
    expect(kindOf(failure)).toEqual({ ...NONE, unavailable: true, refused: true });
  });

  test('goes on with one connection, and finds out by its use that it is gone', async () => {
    const client = newClient();
    for (let call = 0; call < 3; call++) await client.send(GET);
    expect(new Set(calls.map(({ connection }) => connection)).size).toBe(1);

    // As after a freeze: the server has closed it, and this process has not yet looked.
    responses = [(response) => void response.socket?.destroy()];
    expect(kindOf(await failureOf(client.send(GET)))).toMatchObject({ gone: true });
    expect(await client.send(GET)).toHaveProperty('Item');
  });

  test('tries no other idle connection once one was gone: of several that were closed, one call fails', async () => {
    const client = newClient();
    await Promise.all([client.send(GET), client.send(GET), client.send(GET)]);
    const closed = new Set(calls.map(({ connection }) => connection));
    expect(closed.size).toBe(3);
    const reply: Answer = (response) =>
      closed.has(response.socket?.remotePort) ? void response.socket?.destroy() : FOUND(response);
    responses = Array.from({ length: 9 }, () => reply);

    expect(kindOf(await failureOf(client.send(GET)))).toMatchObject({ gone: true });
    expect(await client.send(GET)).toHaveProperty('Item');
  });
});

test('The parts of the SDK refuse what they do not have: repeated calls, and binary values', async () => {
  const binary = new UpdateCommand({ TableName: 'pets', Key: { petId: Buffer.from('42') } });

  await expect(newClient().send(binary)).rejects.toThrow('no binary values');
  expect(calls).toEqual([]);
});

describeOnEachEngine('The parts of the SDK', (newPatientClient) => {
  const Key = { storeId: 'main', petId: 9_223_372_036_854_775_807n };
  let client: DynamoDBDocumentClient;
  let TableName: string;

  beforeAll(async () => {
    TableName = await createStockTable(testClient());
    client = newPatientClient();
  });

  const setting = (quantity: number) => ({
    TableName,
    Key,
    UpdateExpression: 'SET quantity = :quantity',
    ExpressionAttributeValues: { ':quantity': quantity },
  });

  test('make each of their calls', async () => {
    await client.send(new UpdateCommand(setting(4)));
    await client.send(new TransactWriteCommand({ TransactItems: [{ Update: setting(5) }] }));
    const item = { storeId: 'main', petId: { value: '9223372036854775807' }, quantity: { value: '5' } };
    const query = { KeyConditionExpression: 'storeId = :main', ExpressionAttributeValues: { ':main': 'main' } };

    expect(await client.send(new GetCommand({ TableName, Key }))).toMatchObject({ Item: item });
    expect(await client.send(new QueryCommand({ TableName, ...query }))).toMatchObject({ Items: [item] });
    expect(await client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key] } } }))).toMatchObject({
      Responses: { [TableName]: [item] },
    });
  });

  test('have the old item of a condition that failed, and the reasons of a transaction, as attribute values', async () => {
    await client.send(new UpdateCommand(setting(5)));
    const ReturnValuesOnConditionCheckFailure = 'ALL_OLD' as const;
    const refused = { ...setting(6), ConditionExpression: 'quantity > :quantity', ReturnValuesOnConditionCheckFailure };
    const conflict = await failureOf(client.send(new UpdateCommand(refused)));
    const canceled = await failureOf(client.send(new TransactWriteCommand({ TransactItems: [{ Update: refused }] })));
    const Item = { storeId: { S: 'main' }, petId: { N: '9223372036854775807' }, quantity: { N: '5' } };

    expect(conflict).toBeInstanceOf(ConditionalCheckFailedException);
    expect(conflict).toMatchObject({ message: 'The conditional request failed', Item });
    expect(canceled).toBeInstanceOf(TransactionCanceledException);
    expect(canceled).toMatchObject({
      message: expect.stringContaining('[ConditionalCheckFailed]'),
      CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item }],
    });
  });
});
