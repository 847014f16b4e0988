import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { type Call, dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { assemblyForFaults, hurryCalls } from '../support/function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const safely = {
  headers: { 'Content-Type': 'application/json', 'If-Match': '*', 'Idempotency-Key': '"a"' },
  body: '{"quantity":5}',
};

const requests: readonly [string, (api: ApiClient) => Promise<Answer>][] = [
  ['GET /inventory', (api) => api.list()],
  ['PATCH /inventory/{petId}', (api) => api.setQuantity(101, 5)],
  ['PATCH /inventory/{petId} with If-Match and Idempotency-Key', (api) => api.send('PATCH', '/inventory/101', safely)],
  ['GET /pets/{petId}', (api) => api.send('GET', '/pets/101')],
  ['GET /store/orders', (api) => api.send('GET', '/store/orders')],
  ['GET /inventory by status', (api) => api.send('GET', '/inventory?status=sold')],
  ['GET /nowhere', (api) => api.send('GET', '/nowhere')],
];

const failed = dynamoDBError(500, 'InternalServerError');

/** Those that ask DynamoDB for more than the key. */
const dataRequests = requests.slice(0, 6);

/** Nobody has updated it for long, so that what becomes of an update can be told. */
const QUIET_PET = { petId: 900n, quantity: 1, status: 'available' };

describe('When DynamoDB', () => {
  const folder = temporaryFolder();
  let engine: FaultyEngine;
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;

  beforeAll(async () => {
    engine = await FaultyEngine.start();
    const assembly = assemblyForFaults(folder);
    hurryCalls(assembly);
    host = await LocalHost.start({ assembly, dynamodb: engine.endpoint });
    key = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
  });

  afterAll(async () => {
    await host.close();
    await engine.stop();
  });

  afterEach(() => {
    engine.faults = () => undefined;
  });

  const isStockUpdate = ({ action, body }: Call) => action === 'UpdateItem' && body.includes(host.stockTable);

  describe('is out of reach', () => {
    beforeAll(() => engine.disconnect());

    afterAll(() => engine.reconnect());

    test.each(requests)('503 for %s, not a free pass', async (_, send) => {
      expect(await send(api)).toMatchObject({
        status: 503,
        error: { code: 'SERVICE_UNAVAILABLE' },
        rateLimit: { limit: 0, remaining: 0 },
      });
    });

    test('401 still for a key that cannot be one, or none', async () => {
      expect(await ApiClient.withKey(host.baseUrl, `${key.token}x`).list()).toMatchObject({ status: 401 });
      expect(await new ApiClient(host.baseUrl, undefined).list()).toMatchObject({ status: 401 });
    });

    test('503 for an AWS SDK at the host’s own DynamoDB address', async () => {
      const headers = { 'X-Amz-Target': 'DynamoDB_20120810.ListTables' };
      const response = await fetch(host.origin, { method: 'POST', headers, body: '{}' });

      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ __type: expect.stringContaining('InternalServerError') });
    });
  });

  test('fails, 503 where the request cannot be counted, after one try: it may have been counted', async () => {
    engine.faults = ({ body }) => (body.includes(host.keysTable) ? failed : undefined);
    engine.calls.length = 0;

    expect(await api.list()).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(engine.calls).toEqual(['UpdateItem']);
  });

  test('fails, 503 where the stock cannot be reached, and it counts', async () => {
    engine.faults = ({ body }) => (body.includes(host.stockTable) ? failed : undefined);
    const { dayUsed } = await key.read();

    expect(await api.setQuantity(101, 5)).toMatchObject({
      status: 503,
      error: { code: 'SERVICE_UNAVAILABLE' },
      rateLimit: { limit: 1_000 },
    });
    expect(await key.read()).toMatchObject({ dayUsed: dayUsed + 1 });
  });

  test('fails for a moment only, the request is tried again and succeeds', async () => {
    let faults = 1;
    engine.faults = ({ body }) => (body.includes(host.stockTable) && faults-- > 0 ? failed : undefined);

    expect(await api.list()).toMatchObject({ status: 200 });
  });

  describe('has done an update, and its answer is lost,', () => {
    beforeEach(async () => {
      await host.putStock(QUIET_PET);
      let updates = 0;
      engine.faults = (call) => (isStockUpdate(call) && updates++ === 0 ? { kind: 'lostAnswer' } : undefined);
      engine.calls.length = 0;
    });

    test('200, and it is done once', async () => {
      const { status, headers, text } = await api.setQuantity(900, 6);

      expect({ status, text }).toEqual({ status: 200, text: '{"petId":900,"quantity":6,"status":"available"}' });
      expect(headers.get('ETag')).toMatch(/^"[\w-]{12}"$/);
      // A function that is just being initialised may ask for its list meanwhile.
      expect(engine.calls.filter((action) => action !== 'Query').slice(-2)).toEqual(['UpdateItem', 'GetItem']);
    });
  });

  test('closed the connections that were kept, nobody notices, and the request counts once', async () => {
    await api.list();
    const { dayUsed } = await key.read();
    engine.closeConnections();
    const answer = await api.list();

    expect(answer.status).toBe(200);
    expect(await key.read()).toMatchObject({ dayUsed: dayUsed + 1 });
  });

  test('does not answer the operations, 503 for each before the gateway gives up, and then all is as before', async () => {
    engine.faults = ({ body }) => (body.includes(host.keysTable) ? undefined : { kind: 'silence' });
    const during = await Promise.all(
      dataRequests.map(([name, send]) => send(api).then(({ status }) => [name, status])),
    );
    engine.faults = () => undefined;
    const afterwards = await Promise.all(dataRequests.slice(3).map(([, send]) => send(api)));

    expect(during).toEqual(dataRequests.map(([name]) => [name, 503]));
    expect(new Set(afterwards.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('refuses a call as wrong, 500 without telling what it said', async () => {
    const fault = dynamoDBError(400, 'ValidationException');
    engine.faults = ({ body }) => (body.includes(host.stockTable) ? fault : undefined);
    const answer = await api.list();

    expect(answer).toMatchObject({ status: 500, error: { code: 'INTERNAL_ERROR' } });
    expect(answer.text).not.toMatch(/a fault|Validation/);
  });

  test('is up, an admitted request costs one write on the key and one call on the stock', async () => {
    await api.list();
    engine.calls.length = 0;
    await api.list();
    await api.setQuantity(101, 4);

    expect(engine.calls).toEqual(['UpdateItem', 'Query', 'UpdateItem', 'UpdateItem']);
  });
});
