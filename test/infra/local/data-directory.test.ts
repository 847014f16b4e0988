import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { makeDirectory, openDataDirectory } from '../../../infra/local/data-directory.ts';
import { LogGroups } from '../../../infra/local/log-groups.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const root = temporaryDirectory();

test.each([
  ['no mark', undefined, 'unknown'],
  ['the mark of the version before this', '5\n', '5'],
])('a data directory with %s is refused, and the error says how to keep its data', (name, mark, format) => {
  const directory = path.join(root, name);
  mkdirSync(path.join(directory, 'dynamodb'), { recursive: true });
  if (mark !== undefined) writeFileSync(path.join(directory, 'format'), mark);
  const message =
    `^The data directory ${directory} has the format ${format} of another [^\n]+ this one has 6\\. [^\n]+` +
    'npm run admin -- inventory export FILE, [^\n]+API keys [^\n]+cannot be [^\n]+$';

  expect(() => openDataDirectory(directory)).toThrow(new RegExp(message));
});

test.each([
  ['where the system allows none', '/proc/pet-store/data', 'E(?:NOENT|ACCES|PERM|ROFS)'],
  ['below a file', path.join(import.meta.filename, 'data'), 'ENOTDIR'],
])('a data directory %s fails the start with the reason from the system', (_, directory, reason) => {
  const message = `^The data directory .* cannot be used: .*${reason}.* or choose another with --data\\.$`;

  expect(() => openDataDirectory(directory)).toThrow(new RegExp(message));
});

test('new directories are private to their owner, even in a shared data directory', () => {
  const [shared, fresh] = [path.join(root, 'shared'), path.join(root, 'fresh')];
  mkdirSync(shared, { mode: 0o755 });
  for (const directory of [shared, fresh]) openDataDirectory(directory);

  for (const directory of [fresh, makeDirectory(shared, 'logs'), makeDirectory(shared, 'dynamodb')])
    expect(statSync(directory).mode & 0o777).toBe(0o700);
});

describe('The log groups of a server', () => {
  const directory = makeDirectory(root, 'logs');

  test('append to existing files, flush on close, and ignore later writes', async () => {
    for (const text of ['first\n', 'second\n']) {
      const logGroups = new LogGroups(directory);
      for (let lines = 0; lines < 100; lines++) logGroups.write('stock', text);
      await logGroups.close();
      logGroups.write('stock', 'late\n');
    }

    const log = readFileSync(path.join(directory, 'stock.log'), 'utf8');
    expect(log).toBe('first\n'.repeat(100) + 'second\n'.repeat(100));
  });

  test('rotate a file above 10 MB and keep the old one', async () => {
    const text = 'x'.repeat(10 * 1024 * 1024 + 1);
    writeFileSync(path.join(directory, 'long.log'), text);
    const logGroups = new LogGroups(directory);
    logGroups.write('long', 'new\n');
    await logGroups.close();

    expect(readFileSync(path.join(directory, 'long.log'), 'utf8')).toBe('new\n');
    expect(statSync(path.join(directory, 'long.log.1')).size).toBe(text.length);
  });

  test('stop after a failed write, with one notice', async () => {
    const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    symlinkSync('/dev/full', path.join(directory, 'full.log'));
    const logGroups = new LogGroups(directory);
    for (let lines = 0; lines < 3; lines++) {
      logGroups.write('full', 'text\n');
      await setTimeout(20);
    }
    await logGroups.close();

    expect(errors.mock.calls).toEqual([[expect.stringMatching(/^Logging has stopped: ENOSPC/)]]);
    errors.mockRestore();
  });
});
