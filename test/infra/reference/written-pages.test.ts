import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { errorPage } from '../../../infra/reference/error-page.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const root = join(import.meta.dirname, '../../..');
const inDocs = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');

function writeOpenApi(...args: string[]) {
  const program = join(root, 'infra/reference/write-openapi.ts');
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', cwd: root });
}

/** Without what formatting changes: padding in tables, and line breaks. */
const words = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/\s+/g, ' ');

test('docs/errors.md is as npm run docs writes it', () => {
  expect(words(inDocs('errors.md'))).toBe(words(errorPage()));
});

test('docs/openapi.json is as npm run openapi writes it', () => {
  expect(writeOpenApi('--out', '-')).toMatchObject({ status: 0, stderr: '', stdout: inDocs('openapi.json') });
});

test('npm run openapi writes a document for another address, with or without a slash at its end, to a file', () => {
  const file = join(folder, 'openapi.json');
  const server = 'https://api.example.com/v1/';
  const { status, stdout } = writeOpenApi('--server', server, '--stage', 'production', '--out', file);
  expect({ status, stdout }).toEqual({ status: 0, stdout: `Wrote ${file}, for https://api.example.com/v1.\n` });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    servers: [{ url: 'https://api.example.com/v1', description: 'The production service' }],
  });
});

test.each([
  ['an address without the version', ['--server', 'https://api.example.com'], /--server .*ends in the version/],
  ['a folder that is not there', ['--out', join('no', 'such', 'openapi.json')], /no such file or directory/],
])('npm run openapi says in one line what is wrong: %s', (_, args, message) => {
  const { status, stdout, stderr } = writeOpenApi(...args);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^npm run openapi: [^\n]+\n$/);
  expect(stderr).toMatch(message);
});
