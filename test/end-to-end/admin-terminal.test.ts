import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey, type NewKey } from '../../infra/admin/keys/create-key.ts';
import { AdminCommand } from '../support/admin-command.ts';
import { adminTarget, closeTarget } from '../support/admin-target.ts';
import { ApiClient } from '../support/api-client.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Terminal, terminalObstacle } from '../support/terminal.ts';

const GREEN = '\u001B[32m';
const BOLD = '\u001B[1m';

const obstacle = terminalObstacle();
if (obstacle !== undefined) process.stderr.write(`The tests on a terminal are skipped: ${obstacle}.\n`);

(obstacle === undefined ? describe : describe.skip)('On a terminal', () => {
  const folder = temporaryFolder();
  let host: LocalHost;

  beforeAll(async () => {
    host = await LocalHost.start();
  });

  afterAll(() => host.close());

  async function issued(): Promise<NewKey> {
    const target = await adminTarget(host);
    const key = await createKey(target, { name: 'acme', plan: 'free', limits: undefined, expiresAt: undefined });
    closeTarget(target);
    return key;
  }

  const statusOf = async ({ key }: NewKey): Promise<number> =>
    (await ApiClient.withKey(host.baseUrl, key).list()).status;
  const screenOf = async (line: string, env?: Readonly<Record<string, string>>): Promise<string> => {
    const { exitCode, screen } = await new Terminal(`admin ${line} --url ${host.origin}`, env).ended();
    expect({ exitCode, screen }).toMatchObject({ exitCode: 0 });
    return screen;
  };

  test('tables have columns and colours; in a pipe they have tabs and none', async () => {
    const screen = await screenOf('plans list');
    const columns = stripVTControlCharacters(screen).trimEnd().split('\n');
    const piped = await new AdminCommand(host.origin).output('plans', 'list');

    expect(screen).toContain(BOLD);
    expect(screen).not.toContain('\t');
    // The right edges of the numbers stand below each other.
    expect(new Set(columns.map((line) => line.trimEnd().length)).size).toBe(1);
    expect(columns.map((line) => line.trim().split(/ {2,}/))).toEqual(
      piped
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')),
    );
    expect(piped).not.toContain('\u001B');
  });

  test('states are coloured, unless NO_COLOR is set', async () => {
    const [coloured, plain] = await Promise.all([screenOf('keys list'), screenOf('keys list', { NO_COLOR: '1' })]);

    expect(coloured).toContain(`${GREEN}active`);
    expect(plain).toMatch(/^demo-free +Demo Free +free +active /m);
    expect(plain).not.toContain('\u001B');
  });

  test('a bar chart is coloured', async () => {
    expect(await screenOf('usage demo-free --days 1')).toContain(GREEN);
  });

  test('--json is one plain value there too', async () => {
    expect(JSON.parse(await screenOf('keys show demo-free --json'))).toMatchObject({ id: 'demo-free' });
  });

  describe('keys revoke asks', () => {
    test('and goes on after a yes, the result alone on standard output', async () => {
      const key = await issued();
      const file = join(folder, 'result.json');
      const terminal = new Terminal(`admin keys revoke ${key.id} --json --url ${host.origin} > ${file}`);
      await terminal.typeAt('(y/N)', 'y\r');
      const { exitCode, screen } = await terminal.ended();

      expect(stripVTControlCharacters(screen)).toContain(
        `Revoke acme (${key.id}, free) on ${host.origin}? Its requests are refused at once, for good.`,
      );
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: key.id, state: 'revoked' });
      expect({ exitCode, status: await statusOf(key) }).toEqual({ exitCode: 0, status: 401 });
    });

    test.each([
      ['a no', 'n\r'],
      ['no more than the Enter key', '\r'],
      ['Ctrl-C', '\u0003'],
      ['Ctrl-D', '\u0004'],
    ])('and changes nothing after %s', async (_, keys) => {
      const key = await issued();
      const terminal = new Terminal(`admin keys revoke ${key.id} --url ${host.origin}`);
      await terminal.typeAt('(y/N)', keys);
      const { exitCode, screen } = await terminal.ended();

      expect(stripVTControlCharacters(screen).trimEnd()).toMatch(/Nothing was changed\.$/);
      expect({ exitCode, status: await statusOf(key) }).toEqual({ exitCode: 1, status: 200 });
    });

    test('nothing where --yes is said', async () => {
      const key = await issued();

      expect(await screenOf(`keys revoke ${key.id} --yes`)).toBe(`${GREEN}acme (${key.id}) is revoked.\u001B[39m\n`);
      expect(await statusOf(key)).toBe(401);
    });
  });
});
