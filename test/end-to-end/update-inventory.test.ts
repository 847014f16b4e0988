import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const MAX_BODY_BYTES = 16 * 1024;
const GATEWAY_MAX_BODY_BYTES = 10 * 1024 * 1024;
const ETAG = /^"[\w-]{12}"$/;

const etagOf = ({ headers }: Answer): string => headers.get('ETag') ?? '';

let host: LocalHost;
let api: ApiClient;
let other: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  other = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
});

afterAll(() => host.close());

describe('PATCH /inventory/{petId}', () => {
  describe('200', () => {
    test.each([
      [101, 'available'],
      [103, 'pending'],
      [104, 'sold'],
    ])('pet %i stays %s, and its new quantity reads back in the list', async (petId, status) => {
      const updated = `{"petId":${petId},"quantity":77,"status":"${status}"}`;

      expect(await api.setQuantity(petId, 77)).toMatchObject({ status: 200, text: updated });
      expect((await api.list()).text).toContain(updated);
    });

    test.each(['9223372036854775807', '-9223372036854775808'])('the petId %s keeps its digits', async (petId) => {
      await host.putStock({ petId: BigInt(petId), quantity: 1, status: 'pending' });
      const updated = `{"petId":${petId},"quantity":9,"status":"pending"}`;
      const answer = await api.setQuantity(petId, 9);
      const { text } = await api.list();
      await host.deleteStock(BigInt(petId));

      expect(answer).toMatchObject({ status: 200, text: updated });
      expect(text).toContain(updated);
    });
  });

  describe('400', () => {
    test.each([
      ['a body that is not JSON', 'quantity=5', /not valid JSON/],
      ['a negative quantity', '{"quantity":-1}', /"quantity" must be an integer/],
    ])('for %s', async (_, body, message) => {
      const before = (await api.list()).text;

      expect(await api.patch(101, body)).toMatchObject({
        status: 400,
        error: { code: 'INVALID_BODY', message: expect.stringMatching(message) },
      });
      expect((await api.list()).text).toBe(before);
    });

    test.each([
      ['a slash', '10%2F1'],
      ['encoded digits', '%31%30%31'],
      ['hundreds of digits', '9'.repeat(400)],
    ])('for a petId with %s', async (_, petId) => {
      expect(await api.setQuantity(petId, 5)).toMatchObject({ status: 400, error: { code: 'INVALID_PET_ID' } });
    });
  });

  test('404 for a pet that has no entry, and none is made', async () => {
    const before = (await api.list()).text;

    expect(await api.setQuantity(999, 5)).toMatchObject({ status: 404, error: { code: 'PET_NOT_FOUND' } });
    expect((await api.list()).text).toBe(before);
  });

  describe('413', () => {
    test.each([
      ['one byte over 16 KiB', MAX_BODY_BYTES + 1],
      ['more than an invocation carries', 7 * 1024 * 1024],
      ['more than the gateway takes', GATEWAY_MAX_BODY_BYTES + 1],
    ])('for a body of %s', async (_, bytes) => {
      expect(await api.patch(101, '{"quantity":3}'.padEnd(bytes))).toMatchObject({
        status: 413,
        error: { code: 'PAYLOAD_TOO_LARGE' },
      });
    });
  });

  test('415 for another Content-Type', async () => {
    const parts = { headers: { 'Content-Type': 'text/plain' }, body: '{"quantity":3}' };

    expect(await api.send('PATCH', '/inventory/101', parts)).toMatchObject({
      status: 415,
      error: { code: 'UNSUPPORTED_MEDIA_TYPE' },
    });
  });

  test('415 for a compressed body, with what it must be instead', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const answer = await api.send('PATCH', '/inventory/101', { headers, body: '{"quantity":3}' });

    expect(answer).toMatchObject({ status: 415, error: { message: expect.stringContaining('Content-Encoding') } });
    expect(answer.headers.get('Accept-Patch')).toBe('application/json');
  });

  test.each([
    ['101', 412],
    ['999', 404],
  ])('If-None-Match: * on pet %s is %d', async (petId, status) => {
    const headers = { 'Content-Type': 'application/json', 'If-None-Match': '*' };

    expect(await api.send('PATCH', `/inventory/${petId}`, { headers, body: '{"quantity":3}' })).toMatchObject({
      status,
    });
  });
});

describe('PATCH /inventory/{petId}, safely', () => {
  let petId = 10_000n;

  beforeEach(async () => {
    petId += 1n;
    await host.putStock({ petId, quantity: 5, status: 'available' });
  });

  const set = (quantity: number, headers: Record<string, string> = {}, client = api): Promise<Answer> =>
    client.send('PATCH', `/inventory/${petId}`, {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ quantity }),
    });
  const inStock = async (): Promise<number> => {
    const answer = await api.list();
    return Number(new RegExp(`"petId":${petId},"quantity":(\\d+),`).exec(answer.text)?.[1]);
  };

  describe('with If-Match', () => {
    test('every update has an ETag of its own, also one that sets the same quantity', async () => {
      const etags = [etagOf(await set(6)), etagOf(await set(6)), etagOf(await set(7))];

      for (const etag of etags) expect(etag).toMatch(ETAG);
      expect(new Set(etags).size).toBe(3);
    });

    test('of many clients at once that add one each, none is lost', async () => {
      const clients = 12;
      await Promise.all(
        Array.from({ length: clients }, async () => {
          let answer = await set(0, { 'If-Match': '"none"' });
          while (answer.status === 412) {
            const etag = etagOf(answer);
            answer = await set((await inStock()) + 1, { 'If-Match': etag });
          }
          expect(answer.status).toBe(200);
        }),
      );

      expect(await inStock()).toBe(5 + clients);
    });

    test('400 for an If-Match that is none', async () => {
      expect(await set(7, { 'If-Match': 'abc' })).toMatchObject({
        status: 400,
        error: { code: 'INVALID_HEADER', message: expect.stringContaining('If-Match') },
      });
      expect(await inStock()).toBe(5);
    });
  });

  describe('with Idempotency-Key', () => {
    test('the same request gets the same answer, and is carried out once', async () => {
      const first = await set(6, { 'Idempotency-Key': '"one"' });
      await set(9, {}, other);
      const again = await set(6, { 'Idempotency-Key': '"one"' });

      expect(again).toMatchObject({ status: 200, text: first.text });
      expect(etagOf(again)).toBe(etagOf(first));
      expect(await inStock()).toBe(9);
    });

    test('422 for another quantity under the same key', async () => {
      await set(6, { 'Idempotency-Key': '"two"' });
      const reused = { status: 422, error: { code: 'IDEMPOTENCY_KEY_REUSED' } };

      expect(await set(7, { 'Idempotency-Key': '"two"' })).toMatchObject(reused);
      expect(await inStock()).toBe(6);
    });

    test('of many at once one is carried out; the others get its answer, or 503 with Retry-After', async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => set(6, { 'Idempotency-Key': '"four"' })));
      const done = answers.filter(({ status }) => status === 200);
      const failed = answers.filter(({ status }) => status !== 200);

      expect(done.length).toBeGreaterThan(0);
      expect(new Set(done.map(etagOf)).size).toBe(1);
      for (const answer of failed) {
        expect(answer).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
        expect(answer.headers.get('Retry-After')).toBe('1');
      }
      expect(etagOf(await set(6, { 'Idempotency-Key': '"four"' }))).toBe(done.map(etagOf)[0]);
    });
  });

  test('answers are marked as experimental', async () => {
    const answers = [await set(6), await set(-1), await api.setQuantity('abc', 1)];

    expect(answers.map(({ headers }) => headers.get('X-API-Stability'))).toEqual(answers.map(() => 'experimental'));
  });
});
