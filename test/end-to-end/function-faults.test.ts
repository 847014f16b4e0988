import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { assemblyForFaults, plantFaults } from './function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('a function that', () => {
  const directory = temporaryDirectory();
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;

  beforeAll(async () => {
    const assembly = assemblyForFaults(directory);
    plantFaults(assembly, 'FunctionsFallback', 'x-fault-fallback');
    plantFaults(assembly, 'FunctionsAuthorizer', 'x-fault-authorizer');
    plantFaults(assembly, 'FunctionsUpdateInventory', 'x-fault-update');
    plantFaults(assembly, 'FunctionsListInventory', 'x-fault-list');
    host = await LocalHost.start({ assembly });
    key = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
  });

  afterAll(() => host?.close());

  const update = (quantity: number, headers: Record<string, string>) =>
    api.send('PATCH', '/inventory/101', {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ quantity }),
    });

  test.each([
    ['crashes', '/nowhere', 404],
    ['throws', '/nowhere', 404],
    ['streams and crashes', '/inventory', 200],
    ['streams and throws', '/inventory', 200],
  ])('%s causes a 502 with the limit of the key, and the next request succeeds', async (what, path, status) => {
    const { dayUsed } = await key.read();
    const fault = what.replace('streams and ', '');
    const headers = { 'X-Fault-Fallback': fault, 'X-Fault-List': fault };
    const reply = await api.send('GET', path, { headers });

    expect(reply).toMatchObject({
      status: 502,
      error: { code: 'BAD_GATEWAY' },
      rateLimit: { limit: 1_000, remaining: 1_000 - dayUsed - 1 },
    });
    expect(reply.text).not.toContain('secret');
    expect(await api.send('GET', path)).toMatchObject({ status });
  });

  test.each(['crashes', 'throws'])(
    'is the authorizer and %s causes a 503, and the request does not count',
    async (fault) => {
      const { dayUsed } = await key.read();
      const reply = await api.send('GET', '/inventory', { headers: { 'X-Fault-Authorizer': fault } });

      expect(reply).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
      expect(await key.read()).toMatchObject({ dayUsed });
      expect(await api.list()).toMatchObject({ status: 200 });
    },
  );

  test('crashes after an update does not apply it again on a retry', async () => {
    const headers = { 'Idempotency-Key': '"one"' };
    const failed = await update(32, { ...headers, 'X-Fault-Update': 'crashes afterwards' });
    await api.setQuantity(101, 33);
    const repeated = await update(32, headers);

    expect(failed.status).toBe(502);
    expect(repeated).toMatchObject({ status: 200, text: expect.stringContaining('"quantity":32') });
    expect((await api.list()).text).toContain('{"petId":101,"quantity":33,');
  });

  test.each([
    ['crashes in the middle', 'identity'],
    ['throws in the middle', 'gzip'],
  ])('streams and %s disconnects the client (%s), and the next request succeeds', async (fault, encoding) => {
    const headers = { Authorization: `Bearer ${key.token}`, 'X-Fault-List': fault, 'Accept-Encoding': encoding };
    const response = await fetch(`${host.baseUrl}/inventory`, { headers });

    expect(response.status).toBe(200);
    expect(response.headers.get('X-RateLimit-Limit')).toBe('1000');
    await expect(response.text()).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' });
    expect(await api.list()).toMatchObject({ status: 200 });
  });

  test('throws logs why', async () => {
    await api.send('GET', '/nowhere', { headers: { 'X-Fault-Fallback': 'throws' } });
    const log = await host.logWith('the secret of the function');

    expect(log).toContain('the secret of the function');
    expect(log).not.toContain(key.token);
  });
});
