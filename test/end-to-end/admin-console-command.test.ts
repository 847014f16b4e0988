import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Terminal, terminalObstacle } from '../support/admin-command.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const obstacle = terminalObstacle();
if (obstacle !== undefined) process.stderr.write(`The test of the console command is skipped: ${obstacle}.\n`);

(obstacle === undefined ? describe : describe.skip)('On a terminal, the console', () => {
  const folder = temporaryFolder();
  const given = join(folder, 'arguments');
  const { PATH = '' } = process.env;
  let host: LocalHost;

  beforeAll(async () => {
    host = await LocalHost.start();
    for (const opener of ['xdg-open', 'open']) {
      writeFileSync(
        join(folder, opener),
        `#!/bin/sh\nprintf '%s' "$*" > '${given}.part'; mv '${given}.part' '${given}'\n`,
      );
      chmodSync(join(folder, opener), 0o700);
    }
    process.env['PATH'] = `${folder}${delimiter}${PATH}`;
  });

  afterAll(() => {
    process.env['PATH'] = PATH;
    return host.close();
  });

  test.each([
    ['is opened', true],
    ['is not opened until it ends', false],
  ])('opens a file that only its user can read, and that is gone once the page %s', async (_, isOpened) => {
    rmSync(given, { force: true });
    const terminal = new Terminal(`admin console --url ${host.origin}`);
    await terminal.typeAt('Ctrl-C stops the console.', '');
    for (let waits = 0; !existsSync(given) && waits < 1_000; waits++) await sleep(10);
    const file = readFileSync(given, 'utf8');
    const [link = ''] = /http:[^"]+/.exec(readFileSync(file, 'utf8')) ?? [];
    expect([file, dirname(file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
    expect(file).not.toContain(new URL(link).searchParams.get('token'));

    if (isOpened) await fetch(link);
    expect(existsSync(dirname(file))).toBe(!isOpened);
    await terminal.typeAt('Ctrl-C', '\u0003');
    const { exitCode, screen } = await terminal.ended();
    expect(exitCode).toBe(130);
    expect(screen).toContain(link);
    expect(existsSync(dirname(file))).toBe(false);
  });
});
