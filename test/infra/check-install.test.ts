import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CHECK = 'infra/check-install.cjs';
const copy = temporaryDirectory();

const run = (...required: string[]) =>
  spawnSync(process.execPath, [...required.flatMap((file) => ['-r', file]), '-p', '1'], { encoding: 'utf8' });

test('Each npm script, and the app of cdk.json, first checks the install', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));

  for (const script of [...Object.values(scripts), app])
    expect(script).toMatch(
      /^(?:\w+=\S+ )*(?:exec )?node (?:-r \.\/infra\/check-install\.cjs|infra\/check-install\.cjs && )/,
    );
});

test('A missing package and an old Node.js end a script with one sentence', () => {
  for (const file of [CHECK, 'package.json']) cpSync(file, path.join(copy, file));
  const old = path.join(copy, 'old.cjs');
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })");
  const installed = path.resolve(CHECK);

  expect(run(installed)).toMatchObject({ status: 0, stdout: '1\n', stderr: '' });
  expect(run(path.join(copy, CHECK))).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'The package @aws-sdk/client-api-gateway is not installed: run `npm ci`.\n',
  });
  expect(run(old, installed)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^This needs Node\.js 24 or newer, but runs on 20\.1\.0: run `npm ci`, .+\.\n$/),
  });
});
