import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleOrders } from '../../infra/local/sample-data.ts';
import { orderItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { type Order, orderToJson } from '../../shared/contract/orders.ts';
import { ApiClient } from '../support/api-client.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { int64, MIN_INT64 } from '../support/int64.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { requestLinesIn } from '../support/request-lines.ts';

/** Room for several pages. */
const MANY = 10_000;

/** Orders as long as they can be. */
function* orders(): Generator<Order> {
  for (let index = 0; index < MANY; index++) {
    const id = int64(String(BigInt(MIN_INT64) + BigInt(index)));
    const shipDate = '2026-11-21T12:30:00.123+01:00';
    yield { id, petId: id, quantity: 2_147_483_647 - index, shipDate, status: 'delivered', complete: false };
  }
}

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

afterEach(() => {
  engine.faults = () => undefined;
});

afterAll(async () => {
  await host.close();
  await engine.stop();
});

describe('GET /store/orders', () => {
  const samples = sampleOrders.map(orderToJson);

  test('200 with all orders, marked as beta', async () => {
    const { status, text, headers } = await api.send('GET', '/store/orders');

    expect({ status, text }).toEqual({ status: 200, text: `[${samples.join(',')}]` });
    expect(headers.get('X-API-Stability')).toBe('beta');
  });

  test('200 page by page, and by status', async () => {
    const first = await api.send('GET', '/store/orders?limit=2');
    const next = /^<\/v1([^>]+)>; rel="next"$/.exec(first.headers.get('Link') ?? '')?.[1] ?? '';
    const placed = sampleOrders.filter(({ status }) => status === 'placed').map(orderToJson);

    expect(first.text).toBe(`[${samples.slice(0, 2).join(',')}]`);
    expect((await api.send('GET', next)).text).toBe(`[${samples.slice(2, 4).join(',')}]`);
    expect((await api.send('GET', '/store/orders?status=placed')).text).toBe(`[${placed.join(',')}]`);
  });
});

const request = (encoding: string): Promise<Response> =>
  fetch(`${host.baseUrl}/store/orders`, {
    headers: { Authorization: `Bearer ${key.token}`, 'Accept-Encoding': encoding },
  });

describe('GET /store/orders of a very large store', () => {
  beforeAll(() => writeItems(host.documents, host.host.outputs['OrdersTableName'] ?? '', orders(), orderItem), 60_000);

  test('200 with every entry in order, zipped or not', async () => {
    const expected = [...orders(), ...sampleOrders].map(orderToJson);
    const [plain, zipped] = [await request('identity'), await request('gzip')];

    expect([plain.status, zipped.status]).toEqual([200, 200]);
    expect((await plain.text()) === `[${expected.join(',')}]`).toBe(true);
    expect((await zipped.text()) === `[${expected.join(',')}]`).toBe(true);
  });

  test('the first entries come before the last are read', async () => {
    engine.calls.length = 0;
    const reader = (await request('identity')).body?.getReader();
    const first = await reader?.read();
    const readByThen = engine.calls.filter((action) => action === 'Query').length;
    await reader?.cancel();

    expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^\[\{"id":-9223372036854775808,/);
    expect(readByThen).toBeLessThan(MANY / 2_000);
  });

  test('a reader that hangs up is no trouble for the next', async () => {
    for (let reader = 0; reader < 6; reader++) await (await request('gzip')).body?.cancel();

    expect(await api.send('GET', '/store/orders?limit=1')).toMatchObject({ status: 200 });
  });

  test.each(['identity', 'gzip'])('one that breaks off in the middle does not look complete (%s)', async (encoding) => {
    // The first page is read, and no other.
    engine.faults = ({ action, body }) =>
      action === 'Query' && body.includes(':after') ? dynamoDBError(500, 'InternalServerError') : undefined;
    const response = await request(encoding);
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    })();

    await expect(reading).rejects.toThrow('terminated');
    expect(response.status).toBe(200);
    expect(text.startsWith('[{"id":')).toBe(true);
    expect(text.endsWith(']')).toBe(false);
    expect(await host.logWith('A list broke off')).toContain('A list broke off after its answer had begun');
    const requestId = response.headers.get('x-amzn-RequestId');
    expect(requestLinesIn(await host.logWith(`"requestId":"${requestId}","operation"`))).toContainEqual(
      expect.objectContaining({ requestId, status: '200', complete: false }),
    );
  });
});
