import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { orderItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { type Order, orderToJson } from '../../shared/contract/orders.ts';
import { ApiClient } from '../support/api-client.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { requestLinesIn } from '../support/request-lines.ts';

/** Room for several pages. */
const MANY = 10_000;
const SMALLEST_ID = -9_223_372_036_854_775_808n;

/** Orders as long as they can be. */
function* orders(): Generator<Order> {
  for (let index = 0; index < MANY; index++) {
    const id = String(SMALLEST_ID + BigInt(index));
    if (!isInt64(id)) throw new Error('It is one');
    const shipDate = '2026-11-21T12:30:00.123+01:00';
    yield { id, petId: id, quantity: 2_147_483_647 - index, shipDate, status: 'delivered', complete: false };
  }
}

describe('GET /store/orders of a very large store', () => {
  let engine: FaultyEngine;
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;

  beforeAll(async () => {
    engine = await FaultyEngine.start();
    host = await LocalHost.start({ sampleData: false, dynamodb: engine.endpoint });
    await writeItems(host.documents, host.host.outputs.OrdersTableName ?? '', orders(), orderItem);
    key = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
  }, 60_000);

  afterAll(async () => {
    await host.close();
    await engine.stop();
  });

  const list = () => api.send('GET', '/store/orders');
  const request = (headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${host.baseUrl}/store/orders`, { headers: { Authorization: `Bearer ${key.token}`, ...headers } });

  test('200 with every entry in order', async () => {
    const expected = [...orders()].map(orderToJson);
    const { status, text } = await list();

    expect(status).toBe(200);
    expect(text === `[${expected.join(',')}]`).toBe(true);
  });

  test('gzip has the same list in fewer bytes', async () => {
    const plain = await (await request({ 'Accept-Encoding': 'identity' })).text();
    const zipped = await (await request({ 'Accept-Encoding': 'gzip' })).text();

    expect(zipped === plain).toBe(true);
  });

  test('the first entries come before the last are read', async () => {
    engine.calls.length = 0;
    const response = await request({ 'Accept-Encoding': 'identity' });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    const readByThen = engine.calls.filter((action) => action === 'Query').length;
    await reader?.cancel();

    expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^\[\{"id":-9223372036854775808,/);
    expect(readByThen).toBeLessThan(MANY / 2_000);
  });

  test('a reader that hangs up is no trouble for the next', async () => {
    for (let reader = 0; reader < 6; reader++) await (await request()).body?.cancel();

    expect(await api.send('GET', '/store/orders?limit=1')).toMatchObject({ status: 200 });
  });

  test.each(['identity', 'gzip'])('one that breaks off in the middle does not look complete (%s)', async (encoding) => {
    // The first page is read, and no other.
    engine.faults = ({ action, body }) =>
      action === 'Query' && body.includes(':after') ? dynamoDBError(500, 'InternalServerError') : undefined;
    const response = await request({ 'Accept-Encoding': encoding });
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    })();

    await expect(reading).rejects.toThrow('terminated');
    engine.faults = () => undefined;
    expect(response.status).toBe(200);
    expect(text.startsWith('[{"id":')).toBe(true);
    expect(text.endsWith(']')).toBe(false);
    expect(await host.logWith('A list broke off')).toContain('A list broke off after its answer had begun');
    const requestId = response.headers.get('x-amzn-RequestId');
    expect(requestLinesIn(await host.logWith(`"requestId":"${requestId}","operation"`))).toContainEqual(
      expect.objectContaining({ requestId, status: '200', complete: false }),
    );
  });

  test('one that cannot begin is a 503 with an Error body', async () => {
    engine.faults = ({ action }) => (action === 'Query' ? dynamoDBError(500, 'InternalServerError') : undefined);
    const answer = await list();
    engine.faults = () => undefined;

    expect(answer).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
  });
});
