import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sampleOrders, samplePets, sampleStock } from '../../infra/local/sample-data.ts';
import { recordToJson } from '../../shared/contract/exact-json.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { linesAbout, metricsIn } from '../support/request-lines.ts';
import { anEntry } from '../support/tables.ts';

let host: LocalHost;
let keyId: string | undefined;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  const key = await issueKey(host);
  ({ keyId } = await key.read());
  api = ApiClient.withKey(host.baseUrl, key.token);
});

afterAll(() => host.close());

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

test('GET /inventory lists the whole store without Link, and in pages that Link leads through', async () => {
  const whole = sampleStock.map(({ petId, quantity, status }) => ({ petId: Number(petId), quantity, status }));
  const answer = await api.list();

  expect(answer.status).toBe(200);
  expect(nextOf(answer)).toBeUndefined();
  expect(JSON.parse(answer.text)).toStrictEqual(whole);
  expect(await walk('/inventory?status=sold&limit=2')).toEqual(whole.filter(({ status }) => status === 'sold'));
});

test('GET /store/orders lists all orders, and those with a status', async () => {
  const placed = sampleOrders.filter(({ status }) => status === 'placed').map(recordToJson);

  expect(await get('/store/orders')).toMatchObject({
    status: 200,
    text: `[${sampleOrders.map(recordToJson).join(',')}]`,
  });
  expect((await get('/store/orders?status=placed')).text).toBe(`[${placed.join(',')}]`);
});

test('GET /key says what the key may do, as it is after the request', async () => {
  const key = await issueKey(host, { expiresAt: Date.UTC(2030, 11, 31) });
  const own = ApiClient.withKey(host.baseUrl, key.token);
  const { status, headers, text } = await own.send('GET', '/key');
  const { perMinute, perDay } = await key.read();
  const [minute, day] = ['T\\d\\d:\\d\\d:00Z$', 'T00:00:00Z$'].map((end) => expect.stringMatching(new RegExp(end)));

  expect(status).toBe(200);
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(JSON.parse(text)).toEqual({
    plan: 'enterprise',
    access: 'full',
    expiresAt: '2030-12-31T00:00:00Z',
    limits: [
      { window: 'minute', limit: perMinute, remaining: perMinute - 1, resetsAt: minute },
      { window: 'day', limit: perDay, remaining: perDay - 1, resetsAt: day },
    ],
  });
  expect(await own.send('GET', '/key')).toMatchObject({ status: 200 });
  expect(await ApiClient.withKey(host.baseUrl, 'none').send('GET', '/key')).toMatchObject({ status: 401 });
  expect(await own.send('POST', '/key')).toMatchObject({ status: 405 });
});

describe('GET /pets/{petId}', () => {
  test('200 with the record of a pet, and the status of its stock entry', async () => {
    const { name } = samplePets.find(({ id }) => id === '103') ?? {};
    const { status } = sampleStock.find(({ petId }) => petId === '103') ?? {};
    const answer = await get('/pets/103');

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ id: 103, name, status });
  });

  test.each(['GET', 'HEAD'])('304 to %s for a client that has the answer already', async (method) => {
    const headers = { 'If-None-Match': etagOf(await get('/pets/101')) };

    expect(await api.send(method, '/pets/101', { headers })).toMatchObject({ status: 304, text: '' });
    expect(await api.send(method, '/pets/102', { headers })).toMatchObject({ status: 200 });
  });

  test('404 for a pet that is not there', async () => {
    expect(await get('/pets/-101')).toMatchObject({ status: 404, error: { code: 'PET_NOT_FOUND' } });
  });

  test.each(['101', 'abc'])('every answer says that it is deprecated (RFC 9745, RFC 8594): %s', async (petId) => {
    const { headers } = await get(`/pets/${petId}`);
    const deprecatedAt = Number(/^@(\d+)$/.exec(headers.get('Deprecation') ?? '')?.[1]);

    expect(Date.parse(headers.get('Sunset') ?? '') / 1_000).toBeGreaterThan(deprecatedAt);
    expect(headers.get('Link')).toMatch(/^<https?:[^>]+>; rel="deprecation"; type="text\/html", <.+>; rel="sunset"/);
  });
});

describe('PATCH /inventory/{petId}', () => {
  let petId = '10000';

  beforeEach(async () => {
    petId = String(Number(petId) + 1);
    await host.stock.put(anEntry(petId, 5, 'pending'));
  });

  afterEach(() => host.stock.delete(petId));

  const set = (quantity: number, headers: Record<string, string> = {}): Promise<Answer> =>
    api.send('PATCH', `/inventory/${petId}`, {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ quantity }),
    });
  const inStock = async (): Promise<number> => (await host.stock.read(petId))?.quantity ?? -1;

  test('200, the status stays, and the new quantity reads back in the list', async () => {
    const text = `{"petId":${petId},"quantity":77,"status":"pending"}`;

    expect(await set(77)).toMatchObject({ status: 200, text });
    expect((await api.list()).text).toContain(text);
  });

  test.each<[number, string, string, () => Promise<Answer>]>([
    [400, 'INVALID_BODY', 'a negative quantity', () => set(-1)],
    [400, 'INVALID_PET_ID', 'a petId with a slash', () => api.setQuantity('10%2F1', 5)],
    [404, 'PET_NOT_FOUND', 'a pet that has no entry', () => api.setQuantity(999, 5)],
    [412, 'PRECONDITION_FAILED', 'another version', () => set(7, { 'If-Match': '"none"' })],
    [413, 'PAYLOAD_TOO_LARGE', 'more than an invocation carries', () => api.patch(petId, ' '.repeat(7_000_000))],
    [413, 'PAYLOAD_TOO_LARGE', 'more than the gateway takes', () => api.patch(petId, ' '.repeat(10 * 1024 ** 2 + 1))],
    [415, 'UNSUPPORTED_MEDIA_TYPE', 'a compressed body', () => set(3, { 'Content-Encoding': 'gzip' })],
  ])('%i %s for %s, and nothing is changed', async (status, code, _, send) => {
    expect(await send()).toMatchObject({ status, error: { code } });
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
});

test.each<[string, () => Promise<Answer>, object]>([
  ['a list', () => api.list(), { operation: 'listInventory', status: '200' }],
  ['an update', () => api.setQuantity(101, 5), { operation: 'updateInventory', status: '200' }],
  ['a path without operation', () => get('/nowhere'), { operation: 'none', code: 'ROUTE_NOT_FOUND' }],
])('The log has one line about %s, with metrics that CloudWatch takes', async (_, send, expected) => {
  const lines = await linesAbout(host, await send());

  expect(lines).toMatchObject([{ keyId, plan: 'enterprise', stack: 'staging-Inventory', ...expected }]);
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
