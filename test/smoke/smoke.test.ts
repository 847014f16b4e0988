import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { knownFaults } from '../emulators/known-faults.ts';
import { type Outcome, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { type Fault, FaultyLink } from '../support/faulty-engine.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { freePort } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';
import { readOnlyChecks, updatingChecks } from './checks.ts';

const resultSchema = v.strictObject({
  url: v.string(),
  passed: v.number(),
  failed: v.number(),
  skipped: v.number(),
  checks: v.array(v.strictObject({ name: v.string(), outcome: v.string(), seen: v.string() })),
});

const promised: Readonly<Record<string, string>> = {
  'x-amzn-RequestId': 'request-1',
  'Access-Control-Allow-Origin': 'https://example.com',
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1795253280',
  'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
  RateLimit: '"minute";r=59;t=30, "day";r=999;t=4000',
};

/** A response in place of the service's. */
const bad = (status: number, body: unknown, headers: Readonly<Record<string, string>>): Fault => ({
  kind: 'response',
  status,
  headers: { ...promised, ...headers },
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
      if (method === 'DELETE') return bad(200, '[]', {});
      if (method !== 'OPTIONS' || !isUsedUp) return undefined;
      isUsedUp = false;
      return bad(429, {}, { 'Retry-After': '1' });
    };
    const { stdout } = await smoke(`${link.origin}/v1`, '--json', '--read-only');
    await link.close();
    const { checks, ...counts } = v.parse(resultSchema, JSON.parse(stdout));

    expect(counts).toMatchObject({ passed: 17, failed: 1, skipped: 0 });
    expect(checks.flatMap(({ outcome, seen }) => (outcome === 'failed' ? seen : []))).toEqual([
      'DELETE /v1/inventory: the status is 200, not 405',
    ]);
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

  test('reports a refused connection immediately', async () => {
    const outcome = await smoke(`http://127.0.0.1:${await freePort()}/v1`);

    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toMatch(
      /^No server responds at http:\S+\/v1: connect ECONNREFUSED.*\. Check the address.+\n$/,
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
      /^option '--url <url>' .* It must be an address that ends in the version, .* \(see .*\)\n$/,
    ],
    [
      ['--url', 'http://a.com/v1', '--page', 'http://a.com/docs'],
      /^option '--page <url>' .* It must be an address without a path, such as \S+ \(see .*\)\n$/,
    ],
    [['--url', 'http://a.com/v1', '--ky=psk_x'], /^unknown option '--ky' \(see npm run smoke -- --help\)\n$/],
    [['--url', 'http://a.com/v1', '--key', ''], /^An API key is missing: set PET_STORE_API_KEY, or give --key\.\n$/],
  ])('refuses %j with one line', async (words, message) => {
    const outcome = await run(process.execPath, ['test/smoke/main.ts', ...words], { PET_STORE_API_KEY: '' });

    expect(outcome).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(message) });
  });
});

test('the checks that are known to fail on an emulator exist', () => {
  const known = knownFaults.flatMap(({ checks = [] }) => checks);

  expect([...readOnlyChecks, ...updatingChecks].map(({ name }) => name)).toEqual(expect.arrayContaining(known));
});
