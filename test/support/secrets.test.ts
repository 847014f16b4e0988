import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { LogScan, secretsInLog } from './secrets.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const key = generateApiKey();
const hash = hashApiKey(key);
const ofConsole = 'made-in-the-console-of-aws';
const hex = (text: string): string => Buffer.from(text).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['a key that nobody knows', `GET /inventory?key=${generateApiKey()}`, 'an API key'],
  ['a key in base64', base64(key), 'an API key in base64'],
  ['a key in base64, after one byte', base64(`"${key}"`), 'an API key in base64'],
  ['a key in base64, after two', base64(`: ${key}`), 'an API key in base64'],
  ['a key in hexadecimal', hex(key), 'an API key in hexadecimal'],
  ['half a key', key.slice(20, 44), 'a piece of a known key'],
  ['the other half', key.slice(0, 30), 'a piece of a known key'],
  ['the middle of a key', key.slice(14, 30), 'a piece of a known key'],
  ['the hash of a key', hash, 'the hash of a known key'],
  ['a hash that nobody knows', hashApiKey('x'), 'a hash'],
  [
    'the hash of a key in base64url',
    Buffer.from(hash, 'hex').toString('base64url'),
    'the hash of a known key in base64',
  ],
  ['a key of the console', ofConsole, 'a known key'],
  ['a key of the console in hexadecimal', hex(ofConsole), 'a known key in hexadecimal'],
  ['a bearer token', `{"authorization":"Bearer ${ofConsole}"}`, 'a bearer token'],
  ['an access key of AWS', '"AWS_ACCESS_KEY_ID":"ASIAIOSFODNN7EXAMPLE"', 'an AWS access key id'],
])('The scan of a log finds %s, says where, and never what', (_, text, kind) => {
  const leaks = secretsInLog(`first\n${text}\nlast`, [key, ofConsole]);

  expect(leaks).toContainEqual({ kind, line: 2 });
  expect(JSON.stringify(leaks)).not.toContain(text);
});

test('The scan of a log finds nothing in what a log may say', () => {
  const text = `{"keyId":"k3y1d","message":"Send Authorization: Bearer <API_KEY>."} at /cdk.out/asset.${hash}/index.js`;

  expect(secretsInLog(text, [generateApiKey(), ofConsole])).toEqual([]);
});

test('The scan of a host’s logs sees what is written after it began, and leaves nothing behind', () => {
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  writeFileSync(join(logs, 'functions.log'), 'first\n');
  const scan = new LogScan(logs);
  writeFileSync(join(logs, 'functions.log'), `${key}\n`, { flag: 'a' });

  expect(() => scan.expectNoSecrets([])).toThrow(/^There are secrets in the logs:\nfunctions\.log:2: an API key$/);
  expect(readdirSync(logs)).toEqual(['functions.log']);
});
