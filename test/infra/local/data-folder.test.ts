import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openDataFolder } from '../../../infra/local/data-folder.ts';
import { LogGroups } from '../../../infra/local/log-sink.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder();

describe('A data folder', () => {
  test('may be new, or in use by this version', () => {
    const folder = path.join(root, 'new', 'folder');
    openDataFolder(folder);
    mkdirSync(path.join(folder, 'dynamodb'));

    expect(() => openDataFolder(folder)).not.toThrow();
  });

  test.each([
    ['is not there yet', undefined],
    ['is of another version', '1\n'],
  ])('without data may be used where its mark %s', (_, mark) => {
    const folder = path.join(root, `empty ${mark?.length}`);
    mkdirSync(path.join(folder, 'logs'), { recursive: true });
    if (mark !== undefined) writeFileSync(path.join(folder, 'format'), mark);
    openDataFolder(folder);
    mkdirSync(path.join(folder, 'gateway'));

    expect(() => openDataFolder(folder)).not.toThrow();
  });

  test.each([
    ['dynamodb', undefined],
    ['gateway', undefined],
    ['dynamodb', '1\n'],
  ])('with %s of another version is refused (mark: %p)', (kind, mark) => {
    const folder = path.join(root, `${kind} ${mark?.length}`);
    mkdirSync(path.join(folder, kind), { recursive: true });
    if (mark !== undefined) writeFileSync(path.join(folder, 'format'), mark);

    expect(() => openDataFolder(folder)).toThrow(
      `The data folder ${folder} was written by another version of the service. Delete it, or choose another with --data.`,
    );
  });

  test('cannot be where a file is', () => {
    const file = path.join(root, 'file');
    writeFileSync(file, '');

    expect(() => openDataFolder(file)).toThrow(
      /^The data folder .*file cannot be used: .* Choose another with --data\.$/,
    );
  });
});

const newFolder = () => mkdtempSync(path.join(root, 'logs-'));
const read = (folder: string, name: string) => readFileSync(path.join(folder, `${name}.log`), 'utf8');

describe('the log groups of a host', () => {
  test('are a file each', async () => {
    const folder = newFolder();
    const logGroups = new LogGroups(folder);
    logGroups.sink('stock')('one\n');
    logGroups.sink('keys')(Buffer.from('two\n'));
    await logGroups.close();

    expect(readdirSync(folder).toSorted()).toEqual(['keys.log', 'stock.log']);
    expect(read(folder, 'stock')).toBe('one\n');
    expect(read(folder, 'keys')).toBe('two\n');
  });

  test('go on where the last host left off', async () => {
    const folder = newFolder();
    for (const text of ['first\n', 'second\n']) {
      const logGroups = new LogGroups(folder);
      logGroups.sink('stock')(text);
      await logGroups.close();
    }

    expect(read(folder, 'stock')).toBe('first\nsecond\n');
  });
});
