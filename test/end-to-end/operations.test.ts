import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sampleOrders, samplePets } from '../../infra/local/sample-data.ts';
import { recordToJson } from '../../shared/contract/exact-json.ts';
import { type OperationId, operationIds, routes } from '../../shared/contract/routes.ts';
import { type Answer, ApiClient, type RequestParts } from '../support/api-client.ts';
import { issueKey, LocalHost } from '../support/local-host.ts';
import { linesAbout, metricsIn } from '../support/request-lines.ts';
import { anEntry } from '../support/tables.ts';

let host: LocalHost;
let keyId: string | undefined;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  const key = await issueKey(host, { expiresAtMs: Date.UTC(2030, 11, 31) });
  ({ keyId } = await key.read());
  api = ApiClient.withKey(host.baseUrl, key.token);
});

afterAll(() => host?.close());

beforeEach(() => host.stock.put(anEntry(7001, 60, 'pending'), { version: 'v1' }));

const get = (path: string): Promise<Answer> => api.send('GET', path);
const json = (body: unknown, headers: Record<string, string> = {}): RequestParts => ({
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const item = (quantity: number) => ({ petId: 7001, quantity, status: 'pending' });
const pet = samplePets.find(({ id }) => id === '103');
const placed = sampleOrders.filter(({ status }) => status === 'placed').map(recordToJson);
const limits = [{ window: 'minute' }, { window: 'day' }];

/** A request of each operation, and what its response has. */
const examples: Record<OperationId, readonly [path: string, body: object, parts?: RequestParts]> = {
  listInventory: ['/inventory?petId=7001,999', [item(60)]],
  getInventory: ['/inventory/7001', item(60)],
  updateInventory: ['/inventory/7001', item(77), json({ quantity: 77 })],
  updateInventories: ['/inventory', [{ status: 200, item: item(6) }], json([{ petId: 7001, quantity: 6 }])],
  adjustInventory: ['/inventory/7001/adjustments', item(1), json({ by: -59 })],
  getPet: ['/pets/103', { id: 103, name: pet?.name, status: expect.any(String) }],
  listOrders: ['/store/orders?status=placed', JSON.parse(`[${placed.join(',')}]`)],
  getKey: ['/key', { plan: 'enterprise', access: 'full', expiresAt: '2030-12-31T00:00:00Z', limits }],
};

// The client of these tests compares each response with the OpenAPI document.
test.each(operationIds)('%s succeeds as documented, with its stability', async (id) => {
  const { method, stability } = routes[id];
  const [path, body, parts] = examples[id];
  const response = await api.send(method, path, parts);

  expect(response.status).toBe(200);
  expect(JSON.parse(response.text)).toMatchObject(body);
  expect(response.headers.get('X-API-Stability') ?? 'stable').toBe(stability);
});

test.each([
  ['GET', 'W/"v0", "v1"', 304],
  ['HEAD', '"v1"', 304],
  ['HEAD', '"v0"', 200],
])('%s with If-None-Match %s returns %i without a body', async (method, tags, status) => {
  const response = await api.send(method, '/inventory/7001', { headers: { 'If-None-Match': tags } });

  expect(response).toMatchObject({ status, text: '' });
  expect(response.headers.has('Content-Type')).toBe(status !== 304);
});

test.each<[status: number, code: string, method: string, path: string, parts: RequestParts]>([
  [400, 'INVALID_PET_ID', 'PATCH', '/inventory/70%2F01', json({ quantity: 5 })],
  [412, 'PRECONDITION_FAILED', 'PATCH', '/inventory/7001', json({ quantity: 5 }, { 'If-Match': '"v0"' })],
  [413, 'PAYLOAD_TOO_LARGE', 'PATCH', '/inventory/7001', json(' '.repeat(7_000_000))],
  [409, 'INSUFFICIENT_STOCK', 'POST', '/inventory/7001/adjustments', json({ by: -61 })],
  // The name of this parameter is ?limit.
  [400, 'INVALID_QUERY', 'GET', '/inventory??limit=1', {}],
])('%i %s for %s %s is as documented and changes nothing', async (status, code, method, path, parts) => {
  const response = await api.send(method, path, parts);

  expect(response).toMatchObject({ status, error: { code } });
  expect(response.headers.has('ETag')).toBe([409, 412].includes(status));
  expect(await host.stock.read('7001')).toMatchObject({ quantity: 60 });
});

test('GET /pets/{petId} returns its deprecation and its sunset (RFC 9745, RFC 8594)', async () => {
  const { headers } = await get('/pets/103');
  const deprecatedAt = Number(headers.get('Deprecation')?.slice(1));

  expect(Date.parse(headers.get('Sunset') ?? '') / 1_000).toBeGreaterThan(deprecatedAt);
  expect(headers.get('Link')).toMatch(/^<https?:[^>]+>; rel="deprecation"; type="text\/html", <.+>; rel="sunset"/);
});

const known = [...new Set(Object.values(routes).map(({ path }) => `/v1${path}`))].join(', ');

test.each([
  ['GET', '', `There is nothing at "/v1/". Known paths: ${known}.`],
  ['GET', '/inventory/', `There is nothing at "/v1/inventory/". Remove the trailing slash. Known paths: ${known}.`],
  ['GET', '/%zz', `There is nothing at "/v1/%zz". Known paths: ${known}.`],
  ['DELETE', '/inventory/101', '/v1/inventory/{petId} supports GET, HEAD, PATCH, not "DELETE".'],
])('the error for the unknown route %s %s names the known ones', async (method, path, message) => {
  expect(await api.send(method, path)).toMatchObject({ error: { message } });
});

test.each([
  ['a list', '/inventory', { operation: 'listInventory', status: '200' }],
  ['an unknown path', '/nowhere', { operation: 'none', code: 'ROUTE_NOT_FOUND' }],
])('the log has one line with metrics for %s', async (_, path, expected) => {
  const lines = await linesAbout(host, await get(path));

  expect(lines).toMatchObject([{ keyId, plan: 'enterprise', stack: 'staging-Inventory', ...expected }]);
  expect(metricsIn(lines[0])).toContainEqual(expect.objectContaining({ namespace: 'PetStoreInventory', value: 1 }));
});
