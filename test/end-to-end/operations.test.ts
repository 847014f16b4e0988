import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sampleOrders, samplePets, sampleStock } from '../../infra/local/sample-data.ts';
import { recordToJson } from '../../shared/contract/exact-json.ts';
import { methodsFor, operationIds, routes } from '../../shared/contract/routes.ts';
import { tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { type Answer, ApiClient, type RequestParts } from '../support/api-client.ts';
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

afterAll(() => host?.close());

beforeEach(() => host.stock.put(anEntry(7001, 60, 'pending'), { version: 'v1' }));

const get = (path: string): Promise<Answer> => api.send('GET', path);
const asking = (headers: Record<string, string>): RequestParts => ({ headers });
const json = (body: unknown, headers: Record<string, string> = {}): RequestParts => ({
  headers: { 'Content-Type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const etagOf = ({ headers }: Answer): string => headers.get('ETag') ?? '';
const set = (quantity: number, headers = {}) => api.send('PATCH', '/inventory/7001', json({ quantity }, headers));
const inStock = async (): Promise<number> => (await host.stock.read('7001'))?.quantity ?? -1;

const item = (quantity: number) => ({ petId: 7001, quantity, status: 'pending' });
const pet = samplePets.find(({ id }) => id === '103');
const placed = sampleOrders.filter(({ status }) => status === 'placed').map(recordToJson);
const known = asking({ 'If-None-Match': 'W/"v0", "v1"' });

/** The operation of a request; undefined if there is none. */
const operationOf = (method: string, path: string) =>
  operationIds.find((id) => {
    const pattern = routes[id].path.replaceAll(/\{\w+\}/g, '[^/]+');
    return methodsFor(routes[id].method).some((own) => own === method) && new RegExp(`^${pattern}(\\?|$)`).test(path);
  });

describe('Every response matches the OpenAPI document', () => {
  const requests: [method: string, path: string, parts: RequestParts, status: number, body: unknown][] = [
    ['GET', '/inventory?petId=7001,999', {}, 200, [item(60)]],
    ['GET', '/inventory/7001', {}, 200, item(60)],
    ['GET', '/inventory/7001', known, 304, ''],
    ['HEAD', '/inventory/7001', known, 304, ''],
    ['HEAD', '/inventory/7001', asking({ 'If-None-Match': '"v0"' }), 200, ''],
    ['PATCH', '/inventory/7001', json({ quantity: 77 }), 200, item(77)],
    ['PATCH', '/inventory', json([{ petId: 7001, quantity: 6 }]), 200, [{ status: 200, item: item(6) }]],
    ['POST', '/inventory/7001/adjustments', json({ by: -59 }), 200, item(1)],
    ['GET', '/pets/103', {}, 200, { id: 103, name: pet?.name, status: expect.any(String) }],
    ['GET', '/store/orders?status=placed', {}, 200, JSON.parse(`[${placed.join(',')}]`)],
    ['GET', '/key', {}, 200, { access: 'full' }],
  ];

  test('of each operation', () => {
    expect(new Set(requests.map(([method, path]) => operationOf(method, path)))).toEqual(new Set(operationIds));
  });

  test.each(requests)('%s %s, with %j: %i', async (method, path, parts, status, body) => {
    const response = await api.send(method, path, parts);

    const found: unknown = response.text && JSON.parse(response.text);
    expect({ status: response.status, body: found }).toMatchObject({ status, body });
    const { stability } = routes[operationOf(method, path) ?? 'getPet'];
    expect(response.headers.get('X-API-Stability') ?? 'stable').toBe(stability);
  });

  test.each<[status: number, code: string, method: string, path: string, parts: RequestParts]>([
    [400, 'INVALID_QUERY', 'GET', '/inventory?petId=7001,7001', {}],
    [404, 'PET_NOT_FOUND', 'GET', '/inventory/999', {}],
    [400, 'INVALID_PET_ID', 'PATCH', '/inventory/70%2F01', json({ quantity: 5 })],
    [404, 'PET_NOT_FOUND', 'PATCH', '/inventory/999', json({ quantity: 5 })],
    [400, 'INVALID_QUERY', 'PATCH', '/inventory/7001?dryRun=1', json({ quantity: 5 })],
    [412, 'PRECONDITION_FAILED', 'PATCH', '/inventory/7001', json({ quantity: 5 }, { 'If-Match': '"v0"' })],
    [413, 'PAYLOAD_TOO_LARGE', 'PATCH', '/inventory/7001', json(' '.repeat(7_000_000))],
    [400, 'INVALID_BODY', 'PATCH', '/inventory', json([])],
    [409, 'INSUFFICIENT_STOCK', 'POST', '/inventory/7001/adjustments', json({ by: -61 })],
    [404, 'PET_NOT_FOUND', 'GET', '/pets/-101', {}],
    [400, 'INVALID_QUERY', 'GET', '/store/orders?status=sold', {}],
    // The name of this parameter is ?limit.
    [400, 'INVALID_QUERY', 'GET', '/inventory??limit=1', {}],
    [404, 'ROUTE_NOT_FOUND', 'PATCH', '/nowhere?dryRun=1', json({})],
    [405, 'METHOD_NOT_ALLOWED', 'POST', '/key?dryRun=1', {}],
  ])('%i %s for %s %s, which changes nothing', async (status, code, method, path, parts) => {
    const response = await api.send(method, path, parts);

    expect(response).toMatchObject({ status, error: { code } });
    expect(response.headers.has('ETag')).toBe([409, 412].includes(status));
    expect(await inStock()).toBe(60);
  });
});

/** The target of the link to the next page, below the base address. */
const nextOf = ({ headers }: Answer): string | undefined =>
  /^<\/v1(?<target>[^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.groups?.['target'];

async function walk(path: string): Promise<unknown[]> {
  const page = await get(path);
  const next = nextOf(page);
  const entries: unknown[] = JSON.parse(page.text);
  return [...entries, ...(next === undefined ? [] : await walk(next))];
}

test('GET /inventory lists the whole store, or pages that Link connects', async () => {
  const whole = [
    ...sampleStock.map(({ petId, quantity, status }) => ({ petId: Number(petId), quantity, status })),
    item(60),
  ];
  const response = await api.list();

  expect(nextOf(response)).toBeUndefined();
  expect(JSON.parse(response.text)).toStrictEqual(whole);
  expect(await walk('/inventory?status=sold&limit=2')).toEqual(whole.filter(({ status }) => status === 'sold'));
});

test('GET /key returns the access of the key and its limits after the request', async () => {
  const key = await issueKey(host, { expiresAtMs: Date.UTC(2030, 11, 31) });
  const { status, headers, text } = await ApiClient.withKey(host.baseUrl, key.token).send('GET', '/key');
  const { perMinute, perDay } = await key.read();
  const [minute, day] = ['T\\d\\d:\\d\\d:00Z$', 'T00:00:00Z$'].map((end) => expect.stringMatching(new RegExp(end)));

  expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store']);
  expect(JSON.parse(text)).toEqual({
    plan: 'enterprise',
    token: `main/${key.token.slice(-4)}`,
    access: 'full',
    expiresAt: '2030-12-31T00:00:00Z',
    limits: [
      { window: 'minute', limit: perMinute, remaining: perMinute - 1, resetsAt: minute },
      { window: 'day', limit: perDay, remaining: perDay - 1, resetsAt: day },
    ],
  });
});

test.each(['101', 'abc'])('GET /pets/%s returns its deprecation and its sunset (RFC 9745, RFC 8594)', async (petId) => {
  const { headers } = await get(`/pets/${petId}`);
  const deprecatedAt = Number(/^@(\d+)$/.exec(headers.get('Deprecation') ?? '')?.[1]);

  expect(Date.parse(headers.get('Sunset') ?? '') / 1_000).toBeGreaterThan(deprecatedAt);
  expect(headers.get('Link')).toMatch(/^<https?:[^>]+>; rel="deprecation"; type="text\/html", <.+>; rel="sunset"/);
});

test('an ETag is valid for one update, which returns the ETag for the next', async () => {
  const read = etagOf(await get('/inventory/7001'));
  const updated = await set(59, { 'If-Match': read });

  expect([
    updated.status,
    (await set(59, { 'If-Match': read })).status,
    (await set(59, { 'If-Match': etagOf(updated) })).status,
  ]).toEqual([200, 412, 200]);
});

test('an Idempotency-Key gets the same response for a retry, and 422 for another request', async () => {
  const headers = { 'Idempotency-Key': '"one"' };
  const first = await set(6, headers);
  await set(9);
  const again = await set(6, headers);

  expect([again.status, again.text, etagOf(again)]).toEqual([200, first.text, etagOf(first)]);
  for (const another of [set(7, headers), set(6, { ...headers, 'If-Match': '"x"' })])
    expect(await another).toMatchObject({ status: 422, error: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  expect(await inStock()).toBe(9);
});

test('a read-only token may read, and gets TOKEN_READ_ONLY for each change', async () => {
  const token = generateToken();
  await issueKey(host, { tokens: tokenEntry(token, { access: 'read' }, 0) }, token);
  const reader = ApiClient.withKey(host.baseUrl, token);

  for (const [method, path] of [
    ['POST', '/inventory/7001/adjustments'],
    ['PATCH', '/inventory'],
    ['PATCH', '/inventory/7001'],
  ] as const)
    expect(await reader.send(method, path, json('{}'))).toMatchObject({ error: { code: 'TOKEN_READ_ONLY' } });
  expect(await reader.send('GET', '/inventory/7001')).toMatchObject({ status: 200 });
});

test.each<[string, () => Promise<Answer>, object]>([
  ['a list', () => api.list(), { operation: 'listInventory', status: '200' }],
  ['an unknown path', () => get('/nowhere'), { operation: 'none', code: 'ROUTE_NOT_FOUND' }],
])('the log has one line with metrics for %s', async (_, send, expected) => {
  const lines = await linesAbout(host, await send());

  expect(lines).toMatchObject([{ keyId, plan: 'enterprise', stack: 'staging-Inventory', ...expected }]);
  expect(metricsIn(lines[0])).toContainEqual(expect.objectContaining({ namespace: 'PetStoreInventory', value: 1 }));
});
