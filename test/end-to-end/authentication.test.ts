import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { ApiClient } from '../support/api-client.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

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

test.each([
  ['PATCH', '/inventory/no-pet'],
  ['HEAD', '/inventory'],
  ['OPTIONS', '/nowhere'],
])('401 before anything else is looked at: %s %s', async (method, path) => {
  const answer = await new ApiClient(host.baseUrl, undefined).send(method, path);

  expect(answer).toMatchObject({ status: 401, rateLimit: { limit: 0, remaining: 0 } });
});

test.each([
  ['no header', () => undefined],
  ['another scheme', () => `Basic ${btoa(`${key.token}:`)}`],
])('401 API_KEY_MISSING for %s', async (_, authorization) => {
  expect(await listWith(authorization())).toMatchObject({ status: 401, error: { code: 'API_KEY_MISSING' } });
});

test('401 finds fault in a key where there is one, and in none where there is none (RFC 6750 §3.1)', async () => {
  const [missing, invalid] = [await listWith(undefined), await listWithKey('letmein')];

  expect(missing.headers.get('WWW-Authenticate')).toBe('Bearer realm="pet-store-inventory"');
  expect(invalid.headers.get('WWW-Authenticate')).toBe('Bearer realm="pet-store-inventory", error="invalid_token"');
});

describe('401 API_KEY_INVALID', () => {
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

test('200 for a key that an admin made in the AWS console', async () => {
  const { token } = await issueKey(host, { usageIdentifier: 'token' }, 'Console.Made-Key_0123456789');

  expect(await listWithKey(token)).toMatchObject({ status: 200 });
});

test.each(planIds)('200 for the demo key of plan %s', async (plan) => {
  expect(await listWithKey(host.host.keys[plan])).toMatchObject({ status: 200 });
});
