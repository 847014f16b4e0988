import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { MAX_INT64 } from '../support/int64.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const GATEWAY_MAX_BODY_BYTES = 10 * 1024 * 1024;

const etagOf = ({ headers }: Answer): string => headers.get('ETag') ?? '';

let host: LocalHost;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
});

afterAll(() => host.close());

describe('PATCH /inventory/{petId}', () => {
  test('200, the status stays, and the new quantity reads back in the list', async () => {
    const updated = '{"petId":103,"quantity":77,"status":"pending"}';

    expect(await api.setQuantity(103, 77)).toMatchObject({ status: 200, text: updated });
    expect((await api.list()).text).toContain(updated);
  });

  test('200 for the largest int64, which keeps its digits', async () => {
    await host.putStock({ petId: BigInt(MAX_INT64), quantity: 1, status: 'pending' });
    const updated = `{"petId":${MAX_INT64},"quantity":9,"status":"pending"}`;

    expect(await api.setQuantity(MAX_INT64, 9)).toMatchObject({ status: 200, text: updated });
    expect((await api.list()).text).toContain(updated);
  });

  test.each<[number, string, string, () => Promise<Answer>]>([
    [400, 'INVALID_BODY', 'a negative quantity', () => api.patch(101, '{"quantity":-1}')],
    [400, 'INVALID_PET_ID', 'a petId with a slash', () => api.setQuantity('10%2F1', 5)],
    [400, 'INVALID_PET_ID', 'a petId with encoded digits', () => api.setQuantity('%31%30%31', 5)],
    [404, 'PET_NOT_FOUND', 'a pet that has no entry', () => api.setQuantity(999, 5)],
    [413, 'PAYLOAD_TOO_LARGE', 'more than an invocation carries', () => api.patch(101, ' '.repeat(7_000_000))],
    [
      413,
      'PAYLOAD_TOO_LARGE',
      'more than the gateway takes',
      () => api.patch(101, ' '.repeat(GATEWAY_MAX_BODY_BYTES + 1)),
    ],
  ])('%i %s for %s, and nothing is changed', async (status, code, _, send) => {
    const before = (await api.list()).text;

    expect(await send()).toMatchObject({ status, error: { code } });
    expect((await api.list()).text).toBe(before);
  });

  test('415 for a compressed body, with what it must be instead', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const answer = await api.send('PATCH', '/inventory/101', { headers, body: '{"quantity":3}' });

    expect(answer).toMatchObject({ status: 415, error: { message: expect.stringContaining('Content-Encoding') } });
    expect(answer.headers.get('Accept-Patch')).toBe('application/json');
  });
});

describe('PATCH /inventory/{petId}, safely', () => {
  let petId = 10_000n;

  beforeEach(async () => {
    petId += 1n;
    await host.putStock({ petId, quantity: 5, status: 'available' });
  });

  const set = (quantity: number, headers: Record<string, string> = {}): Promise<Answer> =>
    api.send('PATCH', `/inventory/${petId}`, {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ quantity }),
    });
  const inStock = async (): Promise<number> => (await host.readStock(petId)).quantity;

  test('412 for If-None-Match: *, and nothing is changed', async () => {
    expect(await set(7, { 'If-None-Match': '*' })).toMatchObject({ status: 412 });
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
    const first = await set(6, { 'Idempotency-Key': '"one"' });
    await set(9);
    const again = await set(6, { 'Idempotency-Key': '"one"' });

    expect(again).toMatchObject({ status: 200, text: first.text });
    expect(etagOf(again)).toBe(etagOf(first));
    expect(await set(7, { 'Idempotency-Key': '"one"' })).toMatchObject({
      status: 422,
      error: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    expect(await inStock()).toBe(9);
  });

  test('with Idempotency-Key, of many at once one is carried out; the others get its answer, or 503', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => set(6, { 'Idempotency-Key': '"four"' })));
    const done = answers.filter(({ status }) => status === 200);

    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(etagOf)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(etagOf(await set(6, { 'Idempotency-Key': '"four"' }))).toBe(done.map(etagOf)[0]);
  });

  test('answers are marked as experimental', async () => {
    const answers = [await set(6), await set(-1), await api.setQuantity('abc', 1)];

    expect(answers.map(({ headers }) => headers.get('X-API-Stability'))).toEqual(answers.map(() => 'experimental'));
  });
});
