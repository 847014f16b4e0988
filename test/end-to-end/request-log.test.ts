import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { loggedRequests, metricsIn, type RequestLine, type TakenMetric } from '../support/request-lines.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const PET = 700_001n;

describe('The log', () => {
  let host: LocalHost;
  let key: IssuedKey;
  let keyId: string;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    key = await issueKey(host);
    ({ keyId } = await key.read());
    api = ApiClient.withKey(host.baseUrl, key.token);
    await host.putStock({ petId: PET, quantity: 1, status: 'available' });
    // The environments of both functions have served a request, so that no line of a test counts their start.
    await Promise.all([api.list(), api.setQuantity(PET, 2), api.send('GET', '/nowhere')]);
  });

  afterAll(() => host.close());

  /** Sends a request. @returns what came of it, and all lines about it */
  async function logged(send: () => Promise<Answer>): Promise<{ answer: Answer; lines: RequestLine[] }> {
    const before = (await loggedRequests(host, 0)).length;
    const answer = await send();
    const id = answer.headers.get('x-amzn-RequestId');
    const lines = (await loggedRequests(host, before + 1)).filter(({ requestId }) => requestId === id);
    return { answer, lines };
  }

  const withKey = async (differences: Partial<KeyRecord>) =>
    ApiClient.withKey(host.baseUrl, (await issueKey(host, differences)).token);

  test.each<[string, () => Promise<Answer>, object]>([
    ['a list', () => api.list(), { operation: 'listInventory', status: '200' }],
    ['an update', () => api.setQuantity(PET, 5), { operation: 'updateInventory', status: '200' }],
    [
      'nothing that there is',
      () => api.send('GET', '/nowhere'),
      { operation: 'none', status: '404', code: 'ROUTE_NOT_FOUND' },
    ],
  ])('has one line about %s', async (_, send, expected) => {
    const { answer, lines } = await logged(send);

    expect(lines).toMatchObject([
      { keyId, plan: 'enterprise', status: String(answer.status), stack: 'staging-Inventory', ...expected },
    ]);
    expect(lines[0]).not.toHaveProperty('reason');
  });

  test.each<[string, () => Promise<ApiClient>, object]>([
    [
      'of a suspended key',
      () => withKey({ plan: 'business', suspendedUntil: Date.now() + 60_000 }),
      { plan: 'business', status: '429', code: 'API_KEY_SUSPENDED' },
    ],
    [
      'that cannot be counted',
      () => withBrokenKey(),
      { keyId: 'none', plan: 'none', status: '503', code: 'SERVICE_UNAVAILABLE' },
    ],
    [
      'without a key',
      () => Promise.resolve(new ApiClient(host.baseUrl, undefined)),
      { keyId: 'none', plan: 'none', status: '401', code: 'API_KEY_MISSING' },
    ],
  ])('has one line about a request %s, which is a refusal', async (_, client, expected) => {
    const refused = await client();
    const { lines } = await logged(() => refused.list());

    expect(lines).toMatchObject([{ operation: 'listInventory', stack: 'staging-Inventory', ...expected }]);
    expect(lines[0]?.reason).toBe(lines[0]?.code);
    expect(lines[0]).toMatchObject({ Refusals: 1 });
  });

  /** A key whose record nobody can read. */
  async function withBrokenKey(): Promise<ApiClient> {
    const broken = await issueKey(host);
    await host.documents.send(
      new UpdateCommand({
        TableName: host.keysTable,
        Key: { keyHash: hashApiKey(broken.token) },
        UpdateExpression: 'REMOVE minuteRefused',
      }),
    );
    return ApiClient.withKey(host.baseUrl, broken.token);
  }

  test('has metrics that CloudWatch takes: each request once by operation, by plan and by status', async () => {
    const lines = await loggedRequests(host, 0);
    const metrics = lines.flatMap(metricsIn);
    const requests = metrics.filter(({ name }) => name === 'Requests');
    const countBy = (...names: readonly string[]) =>
      sum(requests.filter(({ dimensions }) => Object.keys(dimensions).join() === ['stack', ...names].join()));

    expect([countBy(), countBy('operation'), countBy('plan'), countBy('status')]).toEqual(
      Array.from({ length: 4 }, () => lines.length),
    );
    expect(new Set(metrics.map(({ namespace }) => namespace))).toEqual(new Set(['PetStoreInventory']));
    // Two for each environment that served its first request: the function's and, where it was new too, the authorizer's.
    expect(sum(metrics.filter(({ name }) => name === 'ColdStarts'))).toBeGreaterThanOrEqual(6);
    expect(sum(metrics.filter(({ name }) => name === 'ColdStarts'))).toBe(
      lines.reduce((total, { coldStarts }) => total + coldStarts, 0),
    );
  });
});

const sum = (metrics: readonly TakenMetric[]): number => metrics.reduce((total, { value }) => total + Number(value), 0);
