import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../../..');

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'infra/reference/write-openapi.ts'), ...args], {
    encoding: 'utf8',
    cwd: root,
  });

describe('npm run openapi', () => {
  const folder = temporaryFolder();

  test('writes the document of the local host, as it is in docs', () => {
    expect(run('--out', '-')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: readFileSync(join(root, 'docs/openapi.json'), 'utf8'),
    });
  });

  test('writes a document for another address, with or without a slash at its end, to a file', () => {
    const file = join(folder, 'openapi.json');
    const { status, stdout } = run('--server', 'https://api.example.com/v1/', '--stage', 'production', '--out', file);
    const { servers } = JSON.parse(readFileSync(file, 'utf8'));

    expect({ status, stdout }).toEqual({ status: 0, stdout: `Wrote ${file}, for https://api.example.com/v1.\n` });
    expect(servers).toEqual([
      { url: 'https://api.example.com/v1', description: 'The production service', 'x-internal': false },
    ]);
  });

  test.each([
    ['an address without the version', ['--server', 'https://api.example.com'], /--server .*ends in the version/],
    ['an address with a password', ['--server', 'https://a:b@api.example.com/v1'], /ends in the version/],
    ['a stage that is none', ['--stage', 'moon'], /Allowed choices are local, staging, production/],
    ['an empty file name', ['--out', ' '], /must not be empty/],
    ['a folder that is not there', ['--out', join('no', 'such', 'openapi.json')], /no such file or directory/],
  ])('says in one line what is wrong: %s', (_, args, message) => {
    const { status, stdout, stderr } = run(...args);

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^npm run openapi: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect(existsSync(join(root, 'no'))).toBe(false);
  });
});
