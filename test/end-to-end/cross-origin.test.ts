import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const PAGE = 'https://reference.example.com';

describe('A page of another origin', () => {
  let host: LocalHost;
  let key: IssuedKey;

  beforeAll(async () => {
    host = await LocalHost.start({ pageOrigin: PAGE });
    key = await issueKey(host);
  });

  afterAll(() => host.close());

  test.each([
    ['/inventory', 'GET'],
    ['/inventory/101', 'PATCH'],
    ['/pets/101', 'GET'],
    ['/store/orders', 'GET'],
  ])('asks ahead without a key what it may do with %s', async (path, method) => {
    const { minuteUsed } = await key.read();
    const answer = await new ApiClient(host.baseUrl, undefined).send('OPTIONS', path, {
      headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': method },
    });

    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(PAGE);
    expect(answer.headers.get('Access-Control-Allow-Methods')).toBe(method);
    expect(answer.headers.get('Access-Control-Allow-Headers')).toBe(
      'Authorization, Content-Type, If-Match, Idempotency-Key',
    );
    expect((await key.read()).minuteUsed).toBe(minuteUsed);
  });

  test('may read what every answer says of limits, whoever made the answer', async () => {
    const api = ApiClient.withKey(host.baseUrl, key.token);
    const withoutKey = new ApiClient(host.baseUrl, undefined);
    const answers = [
      await api.list(),
      await api.setQuantity(101, -1),
      await api.send('GET', '/nowhere'),
      await withoutKey.list(),
      await api.patch(101, '{"quantity":3}'.padEnd(11 * 1024 * 1024)),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 401, 413]);
    for (const { headers } of answers) {
      expect(headers.get('Access-Control-Allow-Origin')).toBe(PAGE);
      expect(headers.get('Access-Control-Expose-Headers')?.split(', ')).toEqual(
        expect.arrayContaining(['X-RateLimit-Remaining', 'RateLimit', 'Retry-After', 'ETag', 'Link']),
      );
    }
  });
});
