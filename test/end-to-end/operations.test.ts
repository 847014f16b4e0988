import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sampleOrders, samplePets, sampleStock } from '../../infra/local/sample-data.ts';
import { orderItem } from '../../infra/table-items.ts';
import { orderToJson } from '../../shared/contract/orders.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { linesAbout, metricsIn } from '../support/request-lines.ts';

let engine: FaultyEngine;
let host: LocalHost;
let token: string;
let keyId: string;
let api: ApiClient;

beforeAll(async () => {
  engine = await FaultyEngine.start();
  host = await LocalHost.start({ dynamodb: engine.endpoint });
  const key = await issueKey(host);
  ({ token } = key);
  ({ keyId } = await key.read());
  api = ApiClient.withKey(host.baseUrl, token);
});

afterEach(() => {
  engine.faults = () => undefined;
});

afterAll(async () => {
  await host.close();
  await engine.stop();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> => api.send('GET', path, { headers });
const etagOf = ({ headers }: Answer): string => headers.get('ETag') ?? '';

/** The target of the link to the next page, below the base address. */
const nextOf = ({ headers }: Answer): string | undefined =>
  /^<\/v1(?<target>[^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.groups?.['target'];

async function walk(path: string): Promise<unknown[]> {
  const page = await get(path);
  const next = nextOf(page);
  const entries: unknown[] = JSON.parse(page.text);
  return [...entries, ...(next === undefined ? [] : await walk(next))];
}

describe('GET /inventory', () => {
  const whole = sampleStock.map(({ petId, quantity, status }) => ({ petId: Number(petId), quantity, status }));

  test('200 with the whole store without Link, and in pages that Link leads through, whole or with a status', async () => {
    const answer = await api.list();

    expect(answer.status).toBe(200);
    expect(nextOf(answer)).toBeUndefined();
    expect(JSON.parse(answer.text)).toStrictEqual(whole);
    expect(JSON.parse((await get('/inventory?limit=5')).text)).toHaveLength(5);
    expect(await walk('/inventory?limit=5')).toEqual(whole);
    expect(await walk('/inventory?status=sold&limit=2')).toEqual(whole.filter(({ status }) => status === 'sold'));
  });

  test('200 with gzip for a client that asks for it', async () => {
    const [plain, zipped] = await Promise.all(
      ['identity', 'gzip'].map((encoding) => get('/inventory', { 'Accept-Encoding': encoding })),
    );

    expect(plain?.headers.get('Content-Encoding')).toBeNull();
    expect(zipped?.headers.get('Content-Encoding')).toBe('gzip');
    expect(zipped?.text).toBe(plain?.text);
  });

  test('400 INVALID_QUERY, naming the parameter', async () => {
    expect(await get('/inventory?page[size]=5')).toMatchObject({
      error: { code: 'INVALID_QUERY', message: expect.stringContaining('"page[size]"') },
    });
  });
});

describe('GET /store/orders', () => {
  const samples = sampleOrders.map(orderToJson);
  const placed = sampleOrders.filter(({ status }) => status === 'placed').map(orderToJson);

  test('200 with all orders, page by page, and by status, marked as beta', async () => {
    const all = await get('/store/orders');
    const first = await get('/store/orders?limit=2');

    expect(all).toMatchObject({ status: 200, text: `[${samples.join(',')}]` });
    expect(all.headers.get('X-API-Stability')).toBe('beta');
    expect(first.text).toBe(`[${samples.slice(0, 2).join(',')}]`);
    expect((await get(nextOf(first) ?? '')).text).toBe(`[${samples.slice(2, 4).join(',')}]`);
    expect((await get('/store/orders?status=placed')).text).toBe(`[${placed.join(',')}]`);
  });

  test.each(['identity', 'gzip'])('one that breaks off in the middle does not look complete (%s)', async (encoding) => {
    const items = sampleOrders.slice(0, 2).map((order) => marshall(orderItem(order)));
    const page = { Items: items, Count: 2, ScannedCount: 2, LastEvaluatedKey: items[1] };
    engine.faults = ({ action, body }) => {
      if (action !== 'Query') return undefined;
      return body.includes(':after')
        ? dynamoDBError(500, 'InternalServerError')
        : { kind: 'answer', status: 200, body: JSON.stringify(page) };
    };
    const headers = { Authorization: `Bearer ${token}`, 'Accept-Encoding': encoding };
    const response = await fetch(`${host.baseUrl}/store/orders`, { headers });
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    })();

    await expect(reading).rejects.toThrow('terminated');
    expect(response.status).toBe(200);
    expect(text).toMatch(/^\[\{"id":.*[^\]]$/);
    expect(await host.logWith('A list broke off')).toContain('A list broke off after its answer had begun');
    expect(await linesAbout(host, response)).toMatchObject([{ status: '200', complete: false }]);
  });
});

describe('GET /pets/{petId}', () => {
  test('200 with the record of a pet, and the status of its stock entry', async () => {
    const { name } = samplePets.find(({ id }) => id === '103') ?? {};
    const { status } = sampleStock.find(({ petId }) => petId === '103') ?? {};
    const answer = await get('/pets/103');

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ id: 103, name, status });
  });

  test.each(['GET', 'HEAD'])('304 to %s for whoever has the answer already', async (method) => {
    const headers = { 'If-None-Match': etagOf(await get('/pets/101')) };

    expect(await api.send(method, '/pets/101', { headers })).toMatchObject({ status: 304, text: '' });
    expect(await api.send(method, '/pets/102', { headers })).toMatchObject({ status: 200 });
  });

  test.each([
    ['-101', 404, 'PET_NOT_FOUND'],
    ['%31%30%31', 400, 'INVALID_PET_ID'],
  ])('%s is %i %s', async (petId, status, code) => {
    expect(await get(`/pets/${petId}`)).toMatchObject({ status, error: { code } });
  });

  test.each(['101', 'abc'])('every answer says that it is deprecated (RFC 9745, RFC 8594): %s', async (petId) => {
    const { headers } = await get(`/pets/${petId}`);
    const deprecatedAt = Number(/^@(\d+)$/.exec(headers.get('Deprecation') ?? '')?.[1]);

    expect(Date.parse(headers.get('Sunset') ?? '') / 1_000).toBeGreaterThan(deprecatedAt);
    expect(headers.get('Link')).toMatch(/^<https?:[^>]+>; rel="deprecation"; type="text\/html", <.+>; rel="sunset"/);
  });
});

describe('PATCH /inventory/{petId}', () => {
  let petId = 10_000n;

  beforeEach(async () => {
    petId += 1n;
    await host.putStock({ petId, quantity: 5, status: 'pending' });
  });

  afterEach(() => host.deleteStock(petId));

  const set = (quantity: number, headers: Record<string, string> = {}): Promise<Answer> =>
    api.send('PATCH', `/inventory/${petId}`, {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ quantity }),
    });
  const inStock = async (): Promise<number> => (await host.readStock(petId)).quantity;

  test('200, the status stays, and the new quantity reads back in the list', async () => {
    const text = `{"petId":${petId},"quantity":77,"status":"pending"}`;

    expect(await set(77)).toMatchObject({ status: 200, text });
    expect((await api.list()).text).toContain(text);
  });

  test.each<[number, string, string, () => Promise<Answer>]>([
    [400, 'INVALID_BODY', 'a negative quantity', () => set(-1)],
    [400, 'INVALID_PET_ID', 'a petId with a slash', () => api.setQuantity('10%2F1', 5)],
    [404, 'PET_NOT_FOUND', 'a pet that has no entry', () => api.setQuantity(999, 5)],
    [412, 'PRECONDITION_FAILED', 'If-None-Match: *', () => set(7, { 'If-None-Match': '*' })],
    [413, 'PAYLOAD_TOO_LARGE', 'more than an invocation carries', () => api.patch(petId, ' '.repeat(7_000_000))],
    [413, 'PAYLOAD_TOO_LARGE', 'more than the gateway takes', () => api.patch(petId, ' '.repeat(10 * 1024 ** 2 + 1))],
    [415, 'UNSUPPORTED_MEDIA_TYPE', 'a compressed body', () => set(3, { 'Content-Encoding': 'gzip' })],
  ])('%i %s for %s, and nothing is changed', async (status, code, _, send) => {
    const answer = await send();

    expect(answer).toMatchObject({ status, error: { code } });
    expect(answer.headers.get('Accept-Patch')).toBe(status === 415 ? 'application/json' : null);
    expect(await inStock()).toBe(5);
  });

  test('with If-Match, of many clients at once that add one each, none is lost', async () => {
    const clients = 12;
    const addOne = async (): Promise<void> => {
      let answer = await set(0, { 'If-Match': '"none"' });
      while (answer.status === 412) {
        const etag = etagOf(answer);
        answer = await set((await inStock()) + 1, { 'If-Match': etag });
      }
      expect(answer.status).toBe(200);
    };
    await Promise.all(Array.from({ length: clients }, addOne));

    expect(await inStock()).toBe(5 + clients);
  });

  test('with Idempotency-Key the same request gets the same answer, and another one 422', async () => {
    const headers = { 'Idempotency-Key': '"one"' };
    const first = await set(6, headers);
    await set(9);
    const again = await set(6, headers);

    expect(again).toMatchObject({ status: 200, text: first.text });
    expect(etagOf(again)).toBe(etagOf(first));
    for (const another of [set(7, headers), set(6, { ...headers, 'If-Match': '"x"' })])
      expect(await another).toMatchObject({ status: 422, error: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    expect(await inStock()).toBe(9);
  });

  test('with Idempotency-Key, of many at once one is carried out; the others get its answer, or 503', async () => {
    const headers = { 'Idempotency-Key': '"four"' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => set(6, headers)));
    const done = answers.filter(({ status }) => status === 200);

    expect(new Set(done.map(etagOf))).toHaveProperty('size', 1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(etagOf(await set(6, headers))).toBe(done.map(etagOf)[0]);
  });

  test('answers are marked as experimental', async () => {
    const answers = [await set(6), await set(-1), await api.setQuantity('abc', 1)];

    expect(answers.map(({ headers }) => headers.get('X-API-Stability'))).toEqual(answers.map(() => 'experimental'));
  });
});

test.each<[string, () => Promise<Answer>, object]>([
  ['a list', () => api.list(), { operation: 'listInventory', status: '200' }],
  ['orders', () => get('/store/orders'), { operation: 'listOrders', status: '200' }],
  ['a pet', () => get('/pets/101'), { operation: 'getPet', status: '200' }],
  ['an update', () => api.setQuantity(101, 5), { operation: 'updateInventory', status: '200' }],
  ['nothing that there is', () => get('/nowhere'), { operation: 'none', code: 'ROUTE_NOT_FOUND' }],
])('The log has one line about %s, with metrics that CloudWatch takes', async (_, send, expected) => {
  const lines = await linesAbout(host, await send());

  expect(lines).toMatchObject([{ keyId, plan: 'enterprise', stack: 'staging-Inventory', ...expected }]);
  expect(lines[0]).not.toHaveProperty('reason');
  expect(metricsIn(lines[0])).toContainEqual(expect.objectContaining({ namespace: 'PetStoreInventory', value: 1 }));
});

test.each([
  ['function', { plan: 'business', suspendedUntil: Date.now() + 60_000 } as const, 'business', 'API_KEY_SUSPENDED'],
  ['authorizer', { enabled: false }, 'none', 'API_KEY_INVALID'],
])('The log has one line about a request that is refused by the %s', async (_, key, plan, code) => {
  const refused = await ApiClient.withKey(host.baseUrl, (await issueKey(host, key)).token).list();

  expect(await linesAbout(host, refused)).toMatchObject([
    { operation: 'listInventory', stack: 'staging-Inventory', plan, code, reason: code, Refusals: 1 },
  ]);
});
