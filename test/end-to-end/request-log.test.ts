import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { loggedRequests, metricsIn, type RequestLine, type TakenMetric } from '../support/request-lines.ts';

let host: LocalHost;
let api: ApiClient;
let keyId: string;

beforeAll(async () => {
  host = await LocalHost.start();
  const key = await issueKey(host);
  ({ keyId } = await key.read());
  api = ApiClient.withKey(host.baseUrl, key.token);
});

afterAll(() => host.close());

/** Sends a request. @returns all lines about it */
async function linesAbout(send: () => Promise<Answer>): Promise<RequestLine[]> {
  const before = (await loggedRequests(host, 0)).length;
  const { headers } = await send();
  const lines = await loggedRequests(host, before + 1);
  return lines.filter(({ requestId }) => requestId === headers.get('x-amzn-RequestId'));
}

test.each<[string, () => Promise<Answer>, object]>([
  ['a list', () => api.list(), { operation: 'listInventory', status: '200' }],
  ['an update', () => api.setQuantity(101, 5), { operation: 'updateInventory', status: '200' }],
  ['nothing that there is', () => api.send('GET', '/nowhere'), { operation: 'none', code: 'ROUTE_NOT_FOUND' }],
])('The log has one line about %s', async (_, send, expected) => {
  const lines = await linesAbout(send);

  expect(lines).toMatchObject([{ keyId, plan: 'enterprise', stack: 'staging-Inventory', ...expected }]);
  expect(lines[0]).not.toHaveProperty('reason');
});

test.each([
  [
    'by its function',
    { plan: 'business', suspendedUntil: Date.now() + 60_000 } as const,
    'business',
    'API_KEY_SUSPENDED',
  ],
  ['by the authorizer', { enabled: false }, 'none', 'API_KEY_INVALID'],
])('The log has one line about a request that is refused %s', async (_, key, plan, code) => {
  const refused = ApiClient.withKey(host.baseUrl, (await issueKey(host, key)).token);

  expect(await linesAbout(() => refused.list())).toMatchObject([
    { operation: 'listInventory', stack: 'staging-Inventory', plan, code, reason: code, Refusals: 1 },
  ]);
});

test('The log has metrics that CloudWatch takes: each request once by operation, by plan and by status', async () => {
  const lines = await loggedRequests(host, 0);
  const metrics = lines.flatMap(metricsIn);
  const requests = metrics.filter(({ name }) => name === 'Requests');
  const countBy = (...names: readonly string[]) =>
    sum(requests.filter(({ dimensions }) => Object.keys(dimensions).join() === ['stack', ...names].join()));

  expect([countBy(), countBy('operation'), countBy('plan'), countBy('status')]).toEqual(
    Array.from({ length: 4 }, () => lines.length),
  );
  expect(new Set(metrics.map(({ namespace }) => namespace))).toEqual(new Set(['PetStoreInventory']));
  // Each of the functions above served its first request, the authorizer among them.
  expect(sum(metrics.filter(({ name }) => name === 'ColdStarts'))).toBeGreaterThanOrEqual(4);
});

const sum = (metrics: readonly TakenMetric[]): number => metrics.reduce((total, { value }) => total + Number(value), 0);
