import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { ApiClient, checked } from '../support/api-client.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

describe('Authentication', () => {
  let host: LocalHost;
  let key: IssuedKey;

  beforeAll(async () => {
    host = await LocalHost.start();
    key = await issueKey(host);
  });

  afterAll(() => host.close());

  /** Lists the inventory with this value of the `Authorization` header. */
  const listWith = (authorization: string | undefined) => new ApiClient(host.baseUrl, authorization).list();
  const listWithKey = (token: string) => listWith(`Bearer ${token}`);

  describe('401 before anything else is looked at', () => {
    test.each([
      ['PATCH', '/inventory/no-pet'],
      ['HEAD', '/inventory'],
      ['OPTIONS', '/nowhere'],
    ])('%s %s', async (method, path) => {
      const answer = await new ApiClient(host.baseUrl, undefined).send(method, path);

      expect(answer.status).toBe(401);
      expect(answer.rateLimit).toMatchObject({ limit: 0, remaining: 0 });
    });
  });

  describe('401 API_KEY_MISSING', () => {
    test.each([
      ['no header', () => undefined],
      ['another scheme', () => `Basic ${btoa(`${key.token}:`)}`],
      ['two values in one header', () => `Bearer ${key.token}, Bearer ${key.token}`],
    ])('for %s', async (_, authorization) => {
      expect(await listWith(authorization())).toMatchObject({ status: 401, error: { code: 'API_KEY_MISSING' } });
    });

    test('for the header sent twice', async () => {
      const field = `Authorization: Bearer ${key.token}\r\n`;
      const request = `GET /v1/inventory HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${field}${field}\r\n`;

      expect(checked(parseAnswer(await exchange(host.origin, request)))).toMatchObject({
        status: 401,
        error: { code: 'API_KEY_MISSING', message: expect.stringContaining('more than one Authorization header') },
      });
    });

    test('without fault found in a key, which RFC 6750 §3.1 wants said where there is one', async () => {
      const [missing, invalid] = [await listWith(undefined), await listWithKey('letmein')];

      expect(missing.headers.get('WWW-Authenticate')).toBe('Bearer realm="pet-store-inventory"');
      expect(invalid.headers.get('WWW-Authenticate')).toBe('Bearer realm="pet-store-inventory", error="invalid_token"');
    });
  });

  describe('401 API_KEY_INVALID', () => {
    test.each([
      ['a key that was never issued', () => generateApiKey()],
      ['the hash of a key', () => hashApiKey(key.token)],
      ['thousands of characters', () => 'a'.repeat(8_000)],
    ])('for %s', async (_, token) => {
      expect(await listWithKey(token())).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
    });

    test('for a disabled key, an expired one, an unknown one and a mistyped one with the very same answer', async () => {
      const disabled = await issueKey(host, { enabled: false });
      const expired = await issueKey(host, { expiresAt: Date.now() - 1 });
      const tokens = [disabled.token, expired.token, generateApiKey(), `${key.token}x`];
      const answers = await Promise.all(tokens.map(listWithKey));

      expect(answers[0]).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
      expect(new Set(answers.map(({ text }) => text))).toHaveProperty('size', 1);
    });

    test('for 64 hex digits, which are always a stored hash, even where they have a record of their own', async () => {
      const { token } = await issueKey(host, { usageIdentifier: 'token' }, hashApiKey(key.token));

      expect(await listWithKey(token)).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
    });

    test('for a key that the usage plans do not know', async () => {
      const token = generateApiKey();
      await key.put({ ...(await key.read()), keyHash: hashApiKey(token), keyId: 'nobody' });

      expect(await listWithKey(token)).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
    });
  });

  describe('200', () => {
    test('for a key that an admin made in the AWS console', async () => {
      const { token } = await issueKey(host, { usageIdentifier: 'token' }, 'Console.Made-Key_0123456789');

      expect(await listWithKey(token)).toMatchObject({ status: 200 });
    });

    test.each(planIds)('for the demo key of plan %s', async (plan) => {
      expect(await listWithKey(host.host.keys[plan])).toMatchObject({ status: 200 });
    });
  });

  describe('A change of the record takes effect on the very next request', () => {
    test('disabled: 401', async () => {
      const changed = await issueKey(host);
      const before = await listWithKey(changed.token);
      await changed.change({ enabled: false });

      expect(before.status).toBe(200);
      expect(await listWithKey(changed.token)).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
    });
  });
});
