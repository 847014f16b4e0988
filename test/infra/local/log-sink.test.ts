import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LogGroups } from '../../../infra/local/log-sink.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder();

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

  test('keep the order of what is written, whoever writes it', async () => {
    const folder = newFolder();
    const logGroups = new LogGroups(folder);
    const sinks = [logGroups.sink('stock'), logGroups.sink('stock')];
    for (let line = 0; line < 100; line++) sinks[line % 2]?.(`${line}\n`);
    await logGroups.close();

    expect(read(folder, 'stock')).toBe(Array.from({ length: 100 }, (_, line) => `${line}\n`).join(''));
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

  test('are complete when they are closed', async () => {
    const folder = newFolder();
    const logGroups = new LogGroups(folder);
    logGroups.sink('stock')('x'.repeat(5_000_000));
    await logGroups.close();

    expect(read(folder, 'stock')).toHaveLength(5_000_000);
  });

  test('need not have been used', async () => {
    await expect(new LogGroups(newFolder()).close()).resolves.toBeUndefined();
  });
});
