import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { LogScan, secretsIn, secretsInLog } from './secrets.ts';
import { temporaryFolder } from './temporary-folder.ts';

const key = generateApiKey();
const hash = hashApiKey(key);
const ofConsole = 'made-in-the-console-of-aws';
/** The one that AWS has in its documentation. */
const AWS_EXAMPLE = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

const kindsOf = (leaks: readonly { kind: string }[]) => [...new Set(leaks.map(({ kind }) => kind))];
const hex = (text: string) => Buffer.from(text).toString('hex');
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

describe('The scan for secrets finds, without being told of it,', () => {
  test.each([
    ['a key', `GET /inventory?key=${key}`, 'an API key'],
    ['a key in base64', JSON.stringify({ body: base64(key) }), 'an API key in base64'],
    ['a key in base64, after one byte', base64(`"${key}"`), 'an API key in base64'],
    ['a key in base64, after two', base64(`: ${key}`), 'an API key in base64'],
    ['a key in base64, in a header', base64(`Authorization: Bearer ${key}\n`), 'an API key in base64'],
    ['a key in base64url', Buffer.from(key).toString('base64url'), 'an API key in base64'],
    ['a key in hexadecimal', hex(key), 'an API key in hexadecimal'],
    ['a bearer token', `{"authorization":"Bearer ${ofConsole}"}`, 'a bearer token'],
    ['an access key of AWS', 'AKIAIOSFODNN7EXAMPLE', 'an AWS access key id'],
    ['a temporary one', '"AWS_ACCESS_KEY_ID":"ASIAIOSFODNN7EXAMPLE"', 'an AWS access key id'],
    ['its secret', `aws_secret_access_key = ${AWS_EXAMPLE}`, 'an AWS secret access key'],
    ['its secret in JSON', `{"secretAccessKey":"${AWS_EXAMPLE}"}`, 'an AWS secret access key'],
    ['a signed request', `AWS4-HMAC-SHA256 Credential=x, Signature=${hash}`, 'an AWS signature'],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE', 'a private key'],
    [
      'a token',
      `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1234567890"}').toString('base64url')}.dozjgNryP4J3jVmN`,
      'a JSON web token',
    ],
  ])('%s', (_, text, kind) => {
    expect(kindsOf(secretsIn(`first line\n${text}\nlast line`))).toContain(kind);
  });

  test('the hash of a key in a log, but not the name of a function’s folder', () => {
    expect(secretsInLog(`key ${hash}`)).toEqual([{ kind: 'a hash', line: 1 }]);
    expect(secretsInLog(`at handler (/cdk.out/asset.${hash}/index.js:1:1)`)).toEqual([]);
  });
});

describe('The scan for secrets finds of a known key', () => {
  test.each([
    ['its hash', hash, 'the hash of a known key'],
    ['its hash in base64', base64(Buffer.from(hash, 'hex')), 'the hash of a known key in base64'],
    ['its hash in base64url', Buffer.from(hash, 'hex').toString('base64url'), 'the hash of a known key in base64'],
    ['its first half', key.slice(0, 30), 'a piece of a known key'],
    ['its second half', key.slice(20, 44), 'a piece of a known key'],
    [
      'all but the last character, with a dash in it',
      `${key.slice(0, 40)}-${key.slice(40, 49)}`,
      'a piece of a known key',
    ],
  ])('%s', (_, text, kind) => {
    expect(kindsOf(secretsIn(`some "${text}" text`, [generateApiKey(), key]))).toContain(kind);
  });

  test.each([
    ['the key', ofConsole, 'a known key'],
    ['its hash', hashApiKey(ofConsole), 'the hash of a known key'],
    ['the key in base64', base64(ofConsole), 'a known key in base64'],
    ['the key in hexadecimal', hex(ofConsole), 'a known key in hexadecimal'],
  ])('that was made in the console %s', (_, text, kind) => {
    expect(kindsOf(secretsIn(text, [ofConsole]))).toContain(kind);
  });

  test('that is known by its hash alone the hash', () => {
    expect(kindsOf(secretsIn(`x ${hash}`, [hash]))).toEqual(['the hash of a known key']);
  });
});

describe('The scan for secrets', () => {
  test('finds nothing in what a log may say', () => {
    const line = {
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      keyId: 'k3y1d9f8a7',
      code: 'API_KEY_INVALID',
      message: 'Send your API key in the header Authorization: Bearer <API_KEY>.',
    };

    expect(secretsInLog(JSON.stringify(line), [key, ofConsole])).toEqual([]);
  });

  test('says where, and never what', () => {
    const leaks = secretsInLog(`first\nsecond\n${key}`, [key]);

    expect(new Set(leaks.map(({ line }) => line))).toEqual(new Set([3]));
    expect(JSON.stringify(leaks)).not.toContain(key.slice(4, 12));
  });
});

describe('The scan of a host’s logs', () => {
  const folder = temporaryFolder();

  function logs(name: string, text: string): string {
    const logFolder = join(folder, name);
    mkdirSync(logFolder);
    writeFileSync(join(logFolder, 'functions.log'), text);
    return logFolder;
  }

  test('names file, line and kind, and not the secret', () => {
    const scan = new LogScan(logs('leaking', `first\n${key}\n`));

    expect(() => scan.expectNoSecrets([])).toThrow(/^There are secrets in the logs:\nfunctions\.log:2: an API key$/);
  });

  test('sees what is written after it began', () => {
    const logFolder = logs('written later', 'first\n');
    const scan = new LogScan(logFolder);
    writeFileSync(join(logFolder, 'functions.log'), `${hash}\n`, { flag: 'a' });

    expect(() => scan.expectNoSecrets([])).toThrow('functions.log:2: a hash');
  });

  test('finds nothing where there is nothing, and leaves nothing behind', () => {
    const logFolder = logs('clean', 'first\n');
    new LogScan(logFolder).expectNoSecrets([key]);

    expect(readdirSync(logFolder)).toEqual(['functions.log']);
  });
});
