import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleOrders, sampleStock } from '../../infra/local/sample-data.ts';
import { orderItem } from '../../infra/table-items.ts';
import { orderToJson } from '../../shared/contract/orders.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { MAX_INT64, MIN_INT64 } from '../support/int64.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { requestLinesIn } from '../support/request-lines.ts';

const petIds = sampleStock.map(({ petId }) => petId);

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

/** All digits of the petIds in a list. */
const petIdsOf = ({ text }: Answer): string[] => [...text.matchAll(/"petId":(-?\d+)/g)].map(([, petId = '']) => petId);

/** The target of the link to the next page, below the base address. */
const nextOf = ({ headers }: Answer): string | undefined =>
  /^<\/v1(?<target>[^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.groups?.['target'];

async function walk(path: string): Promise<Answer[]> {
  const page = await api.send('GET', path);
  const next = nextOf(page);
  return [page, ...(next === undefined ? [] : await walk(next))];
}

describe('GET /inventory', () => {
  test('200 with the whole store, each entry with petId, quantity and status and nothing else, without Link', async () => {
    const answer = await api.list();

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toStrictEqual(
      sampleStock.map(({ petId, quantity, status }) => ({ petId: Number(petId), quantity, status })),
    );
    expect(nextOf(answer)).toBeUndefined();
  });

  test('200 to HEAD with the same headers without the list, counted like GET', async () => {
    const [got, head] = [await api.list(), await api.send('HEAD', '/inventory')];
    const names = ['Content-Type', 'Content-Encoding', 'ETag', 'Link', 'Vary', 'Access-Control-Allow-Origin'];

    expect(head).toMatchObject({ status: 200, text: '' });
    expect(names.map((name) => head.headers.get(name))).toEqual(names.map((name) => got.headers.get(name)));
    expect(head.rateLimit.remaining).toBe(got.rateLimit.remaining - 1);
  });

  test('200 in ascending petId, negative ones first, each with all its digits', async () => {
    const [before, after] = [
      [MIN_INT64, '-70', '-7', '0'],
      ['9007199254740992', '9007199254740993', MAX_INT64],
    ];
    const entries = [...before, ...after].map((petId) => ({
      petId: BigInt(petId),
      quantity: 2_147_483_647,
      status: 'sold',
    }));
    await host.putStock(...entries);
    const answer = await api.list();
    await Promise.all(entries.map(({ petId }) => host.deleteStock(petId)));

    expect(petIdsOf(answer)).toEqual([...before, ...petIds, ...after]);
    expect(answer.text).toContain(`{"petId":${MAX_INT64},"quantity":2147483647,"status":"sold"}`);
  });

  test('200 in pages, which Link leads through and which make up the list, whole or with a status', async () => {
    const sold = sampleStock.filter(({ status }) => status === 'sold').map(({ petId }) => petId);
    const pages = await walk('/inventory?limit=5');

    expect(pages.flatMap(petIdsOf)).toEqual(petIds);
    expect(new Set(pages.slice(0, -1).map((page) => petIdsOf(page).length))).toEqual(new Set([5]));
    expect((await walk('/inventory?status=sold&limit=2')).flatMap(petIdsOf)).toEqual(sold);
  });

  test('200 with gzip for a client that asks for it', async () => {
    const plain = await api.send('GET', '/inventory', { headers: { 'Accept-Encoding': 'identity' } });
    const zipped = await api.send('GET', '/inventory', { headers: { 'Accept-Encoding': 'gzip' } });

    expect(plain.headers.get('Content-Encoding')).toBeNull();
    expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
    expect(zipped.text).toBe(plain.text);
  });

  test('400 INVALID_QUERY, naming the parameter, and not zipped', async () => {
    const answer = await api.send('GET', '/inventory?page[size]=5', { headers: { 'Accept-Encoding': 'gzip' } });

    expect(answer).toMatchObject({ status: 400, error: { code: 'INVALID_QUERY' } });
    expect(answer.error?.message).toContain('"page[size]"');
    expect(answer.headers.get('Content-Encoding')).toBeNull();
  });
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
    const placed = sampleOrders.filter(({ status }) => status === 'placed').map(orderToJson);

    expect(first.text).toBe(`[${samples.slice(0, 2).join(',')}]`);
    expect((await api.send('GET', nextOf(first) ?? '')).text).toBe(`[${samples.slice(2, 4).join(',')}]`);
    expect((await api.send('GET', '/store/orders?status=placed')).text).toBe(`[${placed.join(',')}]`);
  });

  test.each(['identity', 'gzip'])('one that breaks off in the middle does not look complete (%s)', async (encoding) => {
    const items = sampleOrders.slice(0, 2).map((order) => marshall(orderItem(order)));
    const page = { Items: items, Count: 2, ScannedCount: 2, LastEvaluatedKey: items[1] };
    engine.faults = ({ action, body }) => {
      if (action !== 'Query') return undefined;
      const isFirst = !body.includes(':after');
      return isFirst
        ? { kind: 'answer', status: 200, body: JSON.stringify(page) }
        : dynamoDBError(500, 'InternalServerError');
    };
    const headers = { Authorization: `Bearer ${key.token}`, 'Accept-Encoding': encoding };
    const response = await fetch(`${host.baseUrl}/store/orders`, { headers });
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
