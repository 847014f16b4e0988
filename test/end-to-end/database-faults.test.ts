import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { dynamoDBError, type Fault, FaultyEngine } from '../support/faulty-engine.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

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
  ['GET /inventory in pages', (api) => api.send('GET', '/inventory?limit=1')],
  ['GET /nowhere', (api) => api.send('GET', '/nowhere')],
  ['DELETE /inventory', (api) => api.send('DELETE', '/inventory')],
];

/** What goes wrong, and how often the request is then tried to be counted: once where it may have been counted. */
const outages: readonly [string, Fault, number][] = [
  ['fails', dynamoDBError(500, 'InternalServerError'), 1],
  ['is overloaded', dynamoDBError(400, 'ProvisionedThroughputExceededException'), 1],
  ['hangs up', { kind: 'hangUp' }, 2],
];

describe('When DynamoDB', () => {
  let engine: FaultyEngine;
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;

  beforeAll(async () => {
    engine = await FaultyEngine.start();
    host = await LocalHost.start({ dynamodb: engine.endpoint });
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

  test('is back, the service is back by itself', async () => {
    await engine.disconnect();
    const during = await api.list();
    await engine.reconnect();

    expect(during.status).toBe(503);
    expect(await api.list()).toMatchObject({ status: 200 });
  });

  describe.each(outages)('%s', (_, fault, tries) => {
    test('503 where the request cannot be counted', async () => {
      engine.faults = ({ body }) => (body.includes(host.keysTable) ? fault : undefined);
      engine.calls.length = 0;

      expect(await api.list()).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
      expect(engine.calls).toEqual(Array.from({ length: tries }, () => 'UpdateItem'));
    });

    test.each(requests.slice(0, 2))('503 for %s where the stock cannot be reached, and it counts', async (__, send) => {
      engine.faults = ({ body }) => (body.includes(host.stockTable) ? fault : undefined);
      const { dayUsed } = await key.read();

      expect(await send(api)).toMatchObject({
        status: 503,
        error: { code: 'SERVICE_UNAVAILABLE' },
        rateLimit: { limit: 1_000 },
      });
      expect(await key.read()).toMatchObject({ dayUsed: dayUsed + 1 });
    });

    test('for a moment only, the operation tries again and succeeds', async () => {
      let faultsLeft = 1;
      engine.faults = ({ body }) => (body.includes(host.stockTable) && faultsLeft-- > 0 ? fault : undefined);

      expect(await api.list()).toMatchObject({ status: 200 });
    });
  });

  test('fails in the midst of a list, the answer breaks off', async () => {
    const petId = { N: '1' };
    const item = { storeId: { S: 'main' }, petId, quantity: { N: '2' }, status: { S: 'sold' } };
    const page = { Items: [item], Count: 1, LastEvaluatedKey: { storeId: { S: 'main' }, petId } };
    engine.faults = ({ action, body }) => {
      if (action !== 'Query') return undefined;
      if (body.includes(':after')) return dynamoDBError(500, 'InternalServerError');
      return { kind: 'answer', status: 200, body: page };
    };

    await expect(api.list()).rejects.toThrow(/terminated/);
  });

  test('closed the connections that were kept, nobody notices, and the request counts once', async () => {
    await api.list();
    const { dayUsed } = await key.read();
    engine.closeConnections();
    const answer = await api.list();

    expect(answer.status).toBe(200);
    expect(await key.read()).toMatchObject({ dayUsed: dayUsed + 1 });
  });

  test('does not answer, 503 after a few seconds', async () => {
    engine.faults = () => ({ kind: 'silence' });

    expect(await api.list()).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
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
