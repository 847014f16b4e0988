import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const etagOf = ({ headers }: Answer): string => headers.get('ETag') ?? '';

const ETAG = /^"[\w-]{12}"$/;

describe('PATCH /inventory/{petId}, safely', () => {
  let host: LocalHost;
  let api: ApiClient;
  let other: ApiClient;
  let petId = 10_000n;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
    other = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

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

    test('of two clients with one ETag, one updates and the other is told 412, with the ETag that is current', async () => {
      const etag = etagOf(await set(6));
      const mine = await set(7, { 'If-Match': etag });
      const theirs = await set(8, { 'If-Match': etag }, other);

      expect(mine.status).toBe(200);
      expect(theirs).toMatchObject({ status: 412, error: { code: 'PRECONDITION_FAILED' } });
      expect(etagOf(theirs)).toBe(etagOf(mine));
      expect(await inStock()).toBe(7);
      expect(await set(8, { 'If-Match': etagOf(theirs) }, other)).toMatchObject({ status: 200 });
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

    test.each([
      ['*', 200],
      ['"none", {etag}', 200],
      ['{etag},"none"', 200],
      ['W/{etag}', 412],
      ['"none"', 412],
      ['""', 412],
      ['W/"a", "b"', 412],
    ])('%s: %d', async (header, status) => {
      const etag = etagOf(await set(6));

      expect((await set(7, { 'If-Match': header.replace('{etag}', etag) })).status).toBe(status);
      expect(await inStock()).toBe(status === 200 ? 7 : 6);
    });

    test.each(['abc', '"abc', '"a" "b"', '*, "a"', 'w/"a"', Array.from({ length: 21 }, () => '"a"').join(',')])(
      '400 for If-Match: %s',
      async (header) => {
        expect(await set(7, { 'If-Match': header })).toMatchObject({
          status: 400,
          error: { code: 'INVALID_HEADER', message: expect.stringContaining('If-Match') },
        });
        expect(await inStock()).toBe(5);
      },
    );

    test('404 for a pet without an entry, whatever the ETag', async () => {
      await host.deleteStock(petId);

      expect(await set(1, { 'If-Match': '"abc"' })).toMatchObject({ status: 404 });
      expect(await set(1, { 'If-Match': '*' })).toMatchObject({ status: 404 });
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

    test('422 for another quantity, another pet or another If-Match under the same key', async () => {
      await set(6, { 'Idempotency-Key': '"two"' });
      const reused = { status: 422, error: { code: 'IDEMPOTENCY_KEY_REUSED' } };

      expect(await set(7, { 'Idempotency-Key': '"two"' })).toMatchObject(reused);
      expect(await set(6, { 'Idempotency-Key': '"two"', 'If-Match': '"a"' })).toMatchObject(reused);
      const elsewhere = {
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': '"two"' },
        body: '{"quantity":6}',
      };
      expect(await api.send('PATCH', '/inventory/101', elsewhere)).toMatchObject(reused);
      expect(await inStock()).toBe(6);
    });

    test('the keys of two customers are two keys', async () => {
      await set(6, { 'Idempotency-Key': '"three"' });

      expect(await set(7, { 'Idempotency-Key': '"three"' }, other)).toMatchObject({ status: 200 });
      expect(await inStock()).toBe(7);
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

    test('what was refused may be sent again with the same key', async () => {
      const { headers } = await set(6, { 'Idempotency-Key': '"five"', 'If-Match': '"none"' });
      await host.deleteStock(petId);
      expect(await set(6, { 'Idempotency-Key': '"six"' })).toMatchObject({ status: 404 });
      await host.putStock({ petId, quantity: 1, status: 'sold' });

      expect(headers.get('ETag')).not.toBe('');
      expect(await set(6, { 'Idempotency-Key': '"six"' })).toMatchObject({ status: 200 });
    });

    test('a request that is wrong is not remembered', async () => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': '"seven"' };

      expect(await api.send('PATCH', `/inventory/${petId}`, { headers, body: '{"quantity":-1}' })).toMatchObject({
        status: 400,
      });
      expect(await set(6, { 'Idempotency-Key': '"seven"' })).toMatchObject({ status: 200 });
    });

    test('a key without quotes is the same key', async () => {
      const first = await set(6, { 'Idempotency-Key': 'eight' });

      expect(etagOf(await set(6, { 'Idempotency-Key': '"eight"' }))).toBe(etagOf(first));
    });

    test.each(['', '""', '"a', 'a b', '"a"; x=1', '"ü"', 'a'.repeat(256)])(
      '400 for Idempotency-Key: %s',
      async (key) => {
        expect(await set(6, { 'Idempotency-Key': key })).toMatchObject({
          status: 400,
          error: { code: 'INVALID_HEADER', message: expect.stringContaining('Idempotency-Key') },
        });
        expect(await inStock()).toBe(5);
      },
    );
  });

  test('answers are marked as experimental', async () => {
    const answers = [await set(6), await set(-1), await api.setQuantity('abc', 1)];

    expect(answers.map(({ headers }) => headers.get('X-API-Stability'))).toEqual(answers.map(() => 'experimental'));
  });
});
