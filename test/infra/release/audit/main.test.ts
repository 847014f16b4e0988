import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Outcome, run } from '../../../support/admin-command.ts';
import { close, listen } from '../../../support/listening.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const BULK = '/-/npm/v1/security/advisories/bulk';
const folder = temporaryFolder();
let caches = 0;

type Answer = (response: ServerResponse) => void;
const registries: (() => Promise<void>)[] = [];

/** A registry that knows of advisories, and of nothing else. */
async function registry(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === BULK) answer(response);
    else response.writeHead(404, { 'Content-Type': 'application/json' }).end('{}');
  });
  const port = await listen(server);
  registries.push(() => {
    server.closeAllConnections();
    return close(server);
  });
  return `http://127.0.0.1:${port}`;
}

afterEach(async () => {
  for (const stop of registries.splice(0)) await stop();
});

/** An advisory against a package that is installed. */
const knownAgainst =
  (name: string, severity: string): Answer =>
  (response) => {
    const advisory = {
      id: 1,
      url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
      title: 'It is slow',
      severity,
      vulnerable_versions: '<=999',
      cwe: [],
      cvss: { score: 5, vectorString: null },
    };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ [name]: [advisory] }));
  };
const nothingKnown: Answer = (response) =>
  void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
const unanswered: Answer = (response) => void response.writeHead(405).end();

/** The service's own lock file, which npm itself audits, in a process of its own. */
async function audit(answer: Answer, allowances: readonly object[] = []): Promise<Outcome> {
  const file = path.join(folder, 'allowlist.json');
  writeFileSync(file, JSON.stringify(allowances));
  return run(process.execPath, ['infra/release/audit/main.ts', '--allowlist', file], {
    npm_config_registry: await registry(answer),
    // npm remembers what it has computed from an advisory.
    npm_config_cache: path.join(folder, `cache-${(caches += 1)}`),
    npm_config_fetch_retries: '0',
  });
}

const finding = 'valibot: It is slow (GHSA-aaaa-bbbb-cccc, https://github.com/advisories/GHSA-aaaa-bbbb-cccc)';
const allowed = { advisory: 'GHSA-aaaa-bbbb-cccc', reason: 'Only the tests use it.', until: '2999-12-31' };

describe('npm run audit', () => {
  test('exits with 0 where nothing is known', async () => {
    expect(await audit(nothingKnown)).toEqual({
      exitCode: 0,
      stdout: '0 info, 0 low, 0 moderate, 0 high, 0 critical; 0 refused\n',
      stderr: '',
    });
  });

  test.each([
    ['low', 0, '0 info, 1 low, 0 moderate, 0 high, 0 critical; 0 refused'],
    ['moderate', 1, '0 info, 0 low, 1 moderate, 0 high, 0 critical; 1 refused'],
  ])('of an advisory that is %s exits with %i', async (severity, exitCode, sum) => {
    expect(await audit(knownAgainst('valibot', severity))).toEqual({
      exitCode,
      stdout: `${severity}: ${finding}\n${sum}\n`,
      stderr: '',
    });
  });

  test('lets one stand that is allowed, with its reason', async () => {
    expect(await audit(knownAgainst('valibot', 'critical'), [allowed])).toEqual({
      exitCode: 0,
      stdout:
        `critical: ${finding}; allowed until 2999-12-31: Only the tests use it.\n` +
        '0 info, 0 low, 0 moderate, 0 high, 1 critical; 0 refused\n',
      stderr: '',
    });
  });

  test('refuses it again once that is over, and an allowance of what is not known any more', async () => {
    const allowances = [
      { ...allowed, until: '2026-01-31' },
      { ...allowed, advisory: 'GHSA-gone' },
    ];

    expect(await audit(knownAgainst('valibot', 'high'), allowances)).toEqual({
      exitCode: 1,
      stdout:
        `high: ${finding}\nAllow-list: the allowance for GHSA-aaaa-bbbb-cccc ended on 2026-01-31\n` +
        'Allow-list: the allowance for GHSA-gone matches nothing any more: take it out\n' +
        '0 info, 0 low, 0 moderate, 1 high, 0 critical; 1 refused\n',
      stderr: '',
    });
  });

  test('exits with 3 and says so where the registry answers no audit requests', async () => {
    const { exitCode, stdout, stderr } = await audit(unanswered);

    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(/^The registry answers no audit requests: 405 Method Not Allowed - POST http.*\/bulk\n$/);
  });

  test('exits with 2 and one line for an allow-list that is none', async () => {
    const { exitCode, stdout, stderr } = await audit(nothingKnown, [{ advisory: 1 }]);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^The allow-list .*allowlist\.json cannot be read: Invalid type.*\n$/);
  });
});
