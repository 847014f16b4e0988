import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { type Outcome, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { FaultyLink } from '../support/faulty-engine.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { freePort } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';
import { answer, ScriptedServer } from '../support/scripted-server.ts';

const resultSchema = v.strictObject({
  url: v.string(),
  passed: v.number(),
  failed: v.number(),
  skipped: v.number(),
  checks: v.array(v.strictObject({ name: v.string(), outcome: v.string(), seen: v.string() })),
});

let host: LocalHost;
let key: IssuedKey;

beforeAll(async () => {
  host = await LocalHost.start();
  key = await issueKey(host);
});
afterAll(() => host.close());

/** `npm run smoke -- …` without npm, with the key where it belongs. */
const smoke = (url: string, ...words: string[]): Promise<Outcome> =>
  run(process.execPath, ['test/smoke/main.ts', '--url', url, ...words], { PET_STORE_API_KEY: key.token });

/** What it finds out, as one JSON value. */
async function resultOf(url: string, ...words: string[]): Promise<v.InferOutput<typeof resultSchema>> {
  return v.parse(resultSchema, JSON.parse((await smoke(url, '--json', ...words)).stdout));
}

const marksOf = ({ stdout }: Outcome): string[] => stdout.split('\n').map((line) => line.slice(0, 1));

describe('npm run smoke', () => {
  test('finds a service in order, with few requests, and leaves its stock as it was', async () => {
    const before = await ApiClient.withKey(host.baseUrl, key.token).list();
    const { dayUsed } = await key.read();
    const outcome = await smoke(`${host.baseUrl}/`);
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(outcome.stdout).toMatch(/\n\nhttp:.*\/v1: 25 passed, 0 failed, 0 skipped\n$/);
    expect(marksOf(outcome).filter((mark) => mark === '✓')).toHaveLength(25);
    expect((await key.read()).dayUsed - dayUsed).toBeLessThanOrEqual(30);
    expect(outcome.stdout).not.toContain(key.token);
    const after = await ApiClient.withKey(host.baseUrl, key.token).list();
    expect(after.text).toBe(before.text);
  });

  test('sends no update where only reading is allowed', async () => {
    const link = await FaultyLink.to(host.origin);
    try {
      const { passed, failed, skipped } = await resultOf(`${link.origin}/v1`, '--read-only');
      expect({ passed, failed, skipped }).toEqual({ passed: 16, failed: 0, skipped: 0 });
      expect(new Set(link.calls.map(({ method }) => method))).toEqual(new Set(['GET', 'DELETE', 'OPTIONS']));
    } finally {
      await link.close();
    }
  });

  test('leaves out what an empty store gives no occasion for', async () => {
    const empty = await LocalHost.start({ sampleData: false });
    try {
      const { token } = await issueKey(empty);
      const outcome = await run(process.execPath, ['test/smoke/main.ts', '--url', empty.baseUrl, '--key', token]);
      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
      expect(outcome.stdout).toContain(
        '– an update with a stale If-Match is refused, with the current ETag: the store is empty',
      );
      expect(outcome.stdout).toMatch(/: 19 passed, 0 failed, 6 skipped\n$/);
    } finally {
      await empty.close();
    }
  });

  test('finds an answer of something on the way', async () => {
    const link = await FaultyLink.to(host.origin);
    link.faults = ({ path }) =>
      path === '/v1/store/orders' ? { kind: 'answer', status: 200, body: '<html>' } : undefined;
    try {
      const { passed, failed, checks } = await resultOf(`${link.origin}/v1`, '--read-only');
      expect({ passed, failed }).toEqual({ passed: 15, failed: 1 });
      expect(checks.filter(({ outcome }) => outcome === 'failed')).toMatchObject([
        { seen: 'the header x-amzn-RequestId is missing' },
      ]);
    } finally {
      await link.close();
    }
  });

  test('finds another service', async () => {
    const server = await ScriptedServer.start(answer(200, '[{"petId":1,"quantity":1,"status":"available"}]'));
    const outcome = await smoke(server.baseUrl.replace(/\/v1$/, ''));
    expect(outcome).toMatchObject({ exitCode: 1, stderr: '' });
    expect(outcome.stdout).toMatch(/^✗ the base address ends in \/v1: it is http:/);
    expect(outcome.stdout).toMatch(/: [1-4] passed, \d+ failed, [0-9] skipped\n$/);
  });

  test('says at once where nobody answers', async () => {
    const outcome = await smoke(`http://127.0.0.1:${await freePort()}/v1`);
    expect(outcome).toMatchObject({ exitCode: 1, stderr: '' });
    expect(outcome.stdout).toMatch(
      /\n✗ GET \/inventory .*ECONNREFUSED.*\n\nhttp:.*\/v1: 1 passed, 1 failed, 0 skipped\n$/,
    );
  });

  test.each([
    [
      ['--url', 'ftp://example.com'],
      /^option '--url <url>' .* It must be an address such as https:.*\/v1\. \(see .*\)$/,
    ],
    [['--url', 'http://localhost/v1', '--ky=psk_x'], /^unknown option '--ky' \(see npm run smoke -- --help\)$/],
    [['--url', 'http://localhost/v1', '--key', ''], /^An API key is missing: set PET_STORE_API_KEY, or give --key\.$/],
  ])('refuses %j in one line', async (words, message) => {
    const outcome = await run(process.execPath, ['test/smoke/main.ts', ...words], { PET_STORE_API_KEY: '' });
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr.trimEnd()).toMatch(message);
    expect(outcome.stderr.trimEnd()).not.toContain('\n');
  });
});
