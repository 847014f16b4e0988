import { expect, test } from '@jest/globals';
import { generateToken, hashToken, parseToken } from '../../shared/keys/token.ts';
import { secretsInLog } from './secrets.ts';

const key = generateToken();
const hash = hashToken(key);
const hexOf = (base64url: string): string => Buffer.from(base64url, 'base64url').toString('hex');
const hexHashOfX = hexOf(hashToken('x'));
const ofConsole = 'made-in-the-console-of-aws';
const hex = (text: string): string => Buffer.from(text).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['a key that nobody knows', `GET /inventory?key=${generateToken()}`, 'an API key'],
  ['a key in base64', base64(key), 'an API key in base64'],
  ['a key in hexadecimal', hex(key), 'an API key in hexadecimal'],
  ['the secret part of a key', key.slice(20, 44), 'a piece of a known key'],
  ['the hash of a key', hexOf(hash), 'the hash of a known key'],
  ['a hash that was never seen', hexHashOfX, 'a hash'],
  ['the hash of a key in base64url', hash, 'the hash of a known key in base64'],
  ['a hash in base64url that was never seen', `#${hashToken('x')}`, 'a hash in base64url'],
  ['a key of the console', ofConsole, 'a known key'],
  ['a bearer token', `{"authorization":"Bearer ${ofConsole}"}`, 'a bearer token'],
  ['an access key of AWS', '"AWS_ACCESS_KEY_ID":"ASIAIOSFODNN7EXAMPLE"', 'an AWS access key id'],
])('The scan of a log finds %s, says where, and never what', (_, text, kind) => {
  const leaks = secretsInLog(`first\n${text}\nlast`, [key, ofConsole]);

  expect(leaks).toContainEqual({ kind, line: 2 });
  expect(JSON.stringify(leaks)).not.toContain(text);
});

test('The scan of a log finds nothing in what a log may say', () => {
  const { recordId = '' } = parseToken(key) ?? {};
  const text =
    `{"keyId":"k3y1d","message":"Send Authorization: Bearer <API_KEY>."} at /cdk.out/asset.${hexHashOfX}/index.js ` +
    `of ${recordId}, ${key.slice(0, 20)}…${key.slice(-4)}`;

  expect(secretsInLog(text, [key, recordId, ofConsole])).toEqual([]);
});
