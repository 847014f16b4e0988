import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../shared/contract/errors.ts';
import { knownFaults } from '../emulators/known-faults.ts';
import { type Outcome, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { type Fault, FaultyLink } from '../support/faulty-engine.ts';
import { type IssuedKey, issueKey, LocalHost } from '../support/local-host.ts';
import { freePort } from '../support/listening.ts';
import { admittedHeaders } from '../support/proxy-event.ts';
import { readOnlyChecks, updatingChecks } from './checks.ts';

const bad = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: 'response',
  status,
  headers: { ...admittedHeaders, 'x-amzn-RequestId': 'request-1', ...headers },
  body: JSON.stringify(body),
});

describe('npm run smoke', () => {
  let host: LocalHost;
  let key: IssuedKey;

  beforeAll(async () => {
    host = await LocalHost.start();
    key = await issueKey(host);
  });
  afterAll(() => host?.close());

  /** `npm run smoke -- …` without npm, with the key where it belongs. */
  const smoke = (url: string, ...words: string[]): Promise<Outcome> =>
    run(process.execPath, ['test/smoke/main.ts', '--url', url, ...words], { PET_STORE_API_KEY: key.token });

  test('passes a correct service with at most 30 requests and leaves its stock unchanged', async () => {
    const api = ApiClient.withKey(host.baseUrl, key.token);
    const before = await api.list();
    // As after a minute has passed amid the checks: the day, whose limit is the same, has less left.
    await key.put({ ...(await key.read()), dayUsed: 50 });
    const { dayUsed } = await key.read();
    const outcome = await smoke(`${host.baseUrl}/`);

    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(outcome.stdout).toMatch(/^(✓ .+: .+\n){23}\nhttp:.*\/v1: 23 passed, 0 failed, 0 skipped\n$/);
    expect((await key.read()).dayUsed - dayUsed).toBeLessThanOrEqual(30);
    expect(outcome.stdout).not.toContain(key.token);
    expect((await api.list()).text).toBe(before.text);
  });

  test('reports an invalid response, waits for an exhausted minute, and sends no update with --read-only', async () => {
    const link = await FaultyLink.to(host.origin);
    let isUsedUp = true;
    link.faults = ({ method }) => {
      if (method === 'DELETE') return bad(200, '[]');
      if (method !== 'OPTIONS' || !isUsedUp) return undefined;
      isUsedUp = false;
      return bad(429, new ServiceError('RATE_LIMIT_EXCEEDED').body, { 'Retry-After': '1' });
    };
    const { stdout } = await smoke(`${link.origin}/v1`, '--json', '--read-only');
    await link.close();

    const seen = 'DELETE /v1/inventory: the status is 200, not 405';
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 17,
      failed: 1,
      skipped: 0,
      checks: expect.arrayContaining([expect.objectContaining({ outcome: 'failed', seen })]),
    });
    expect(new Set(link.calls.map(({ method }) => method))).toEqual(new Set(['GET', 'DELETE', 'OPTIONS']));
  });

  test('reads the reference page at another address, or not, and names the request that failed', async () => {
    const page = `http://127.0.0.1:${await freePort()}`;
    const failed = await smoke(host.baseUrl, '--read-only', '--page', page);
    const { exitCode, stdout } = await smoke(host.baseUrl, '--read-only', '--no-page');

    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toMatch(new RegExp(`\nFailed: GET ${page}/errors\\.html: connect ECONNREFUSED \\S+\n$`));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ 0 failed, 1 skipped\. No write was tried: only reading was allowed \(--read-only\)\.\n$/);
  });

  test('reports that it tried no write in an empty store', async () => {
    const link = await FaultyLink.to(host.origin);
    link.faults = ({ path, method }) => (method === 'GET' && path === '/v1/inventory' ? bad(200, [], {}) : undefined);
    const { stdout } = await smoke(`${link.origin}/v1`);
    await link.close();

    expect(stdout).toMatch(
      /\n– an update .*\n\nhttp:.* skipped\. No write was tried: the store is empty\.\nFailed: .+\n$/,
    );
  });

  test('stops after the first request without a response', async () => {
    const link = await FaultyLink.to(host.origin);
    link.faults = ({ path }) => (path === '/v1/inventory' ? { kind: 'gone' } : undefined);
    const { exitCode, stdout } = await smoke(`${link.origin}/v1`);
    await link.close();

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^✗ GET \/inventory .+\n\nhttp:.*\/v1: 0 passed, 1 failed, 0 skipped\nFailed: GET \/v1\/inventory.*\n$/,
    );
  });

  test.each([
    [
      ['--url', 'https://a.com/v2'],
      /^error: option '--url <url>' .* It must be an address that ends in the version, .*\n$/,
    ],
    [['--page', 'http://a.com/docs'], /^error: option '--page <url>' .* It must be an address without a path, .*\n$/],
    [['--ky=psk_x'], /^error: unknown option '--ky'\n$/],
    [['--url', 'http://127.0.0.1:9/v1'], /^No server responds at http:\S+: .+ Check the address.+\n$/],
  ])('fails at once with one line: %j', async (words, message) => {
    expect(await smoke(host.baseUrl, ...words)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });
});

test('the checks that are known to fail on an emulator exist', () => {
  const known = knownFaults.flatMap(({ checks = [] }) => checks);

  expect([...readOnlyChecks, ...updatingChecks].map(({ name }) => name)).toEqual(expect.arrayContaining(known));
});
