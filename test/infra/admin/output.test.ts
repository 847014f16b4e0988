import { TooManyRequestsException } from '@aws-sdk/client-api-gateway';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { AdminError, awsReason, reasonOf } from '../../../infra/admin/admin-error.ts';
import { print, table } from '../../../infra/admin/commands/output.ts';
import { number, percent, time } from '../../../infra/admin/words.ts';

describe('in a pipe', () => {
  const { isTTY } = process.stdout;
  let printed = '';

  beforeEach(() => {
    printed = '';
    process.stdout.isTTY = false;
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  });

  afterEach(() => {
    jest.restoreAllMocks();
    process.stdout.isTTY = isTTY;
  });

  test('a table is lines of values with tabs between them, whatever their width', () => {
    const rows = [
      ['1', 'Pet & Söhne'],
      ['22', ''],
    ];
    expect(table(['id', 'name'], rows, [0])).toBe('id\tname\n1\tPet & Söhne\n22\t');
    expect(table(['id', 'name'], [])).toBe('id\tname');
  });

  test('a result is its text', () => {
    print({ json: false }, { ok: true }, () => 'It worked.');
    expect(printed).toBe('It worked.\n');
  });

  test('or, for scripts, one JSON value in one line, and the text is not even made', () => {
    const text = jest.fn(() => 'It worked.');
    print({ json: true }, { name: 'a\nb', list: [1, null] }, text);
    expect(printed).toBe('{"name":"a\\nb","list":[1,null]}\n');
    expect(text).not.toHaveBeenCalled();
  });
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [10_000_000, '10,000,000'],
])('the number %i reads %s', (value, text) => {
  expect(number(value)).toBe(text);
});

test.each([
  [0, '0.0 %'],
  [0.0064, '0.6 %'],
  [0.5, '50.0 %'],
  [1, '100.0 %'],
  [12.5, '1,250.0 %'],
])('the share %d reads %s', (share, text) => {
  expect(percent(share)).toBe(text);
});

test('a time reads to the minute', () => {
  expect(time('2026-11-21T12:30:59.999Z')).toBe('2026-11-21 12:30 UTC');
});

const $metadata = {};
const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });
const named = (message: string, name: string): Error => Object.assign(new Error(message), { name });

describe('reasonOf', () => {
  test.each([
    ['the message', new Error('it broke'), 'it broke'],
    ['no full stop', new Error('It broke. Badly.'), 'It broke. Badly'],
    ['one line', new Error('it broke\n  and again'), 'it broke and again'],
    ['the name where there is no message', named('', 'TimeoutError'), 'TimeoutError'],
    ['the first of several', new AggregateError([new Error('no IPv6'), new Error('no IPv4')]), 'no IPv6'],
    ['a text as it is', 'broken', 'broken'],
    [
      'no hints for programmers',
      new Error(
        'not JSON\n  Deserialization error: to see the raw response, inspect the hidden field {error}.$response on this object.',
      ),
      'not JSON',
    ],
  ])('is %s', (_, error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });
});

describe('awsReason', () => {
  test.each([
    [
      'an exception of the SDK',
      new TooManyRequestsException({ message: 'Too Many Requests', $metadata }),
      'AWS could not be used: Too Many Requests (TooManyRequestsException)',
    ],
    [
      'one of several lines',
      new ResourceNotFoundException({ message: 'Not\nfound.', $metadata }),
      'AWS could not be used: Not found (ResourceNotFoundException)',
    ],
    [
      'a refused connection',
      withCode('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
      'AWS could not be used: connect ECONNREFUSED 127.0.0.1:1 (Error)',
    ],
    [
      'an unknown name',
      withCode('getaddrinfo ENOTFOUND aws', 'ENOTFOUND'),
      'AWS could not be used: getaddrinfo ENOTFOUND aws (Error)',
    ],
    ['a time-out', named('socket hang up', 'TimeoutError'), 'AWS could not be used: socket hang up (TimeoutError)'],
    [
      'missing credentials',
      Object.assign(named('Could not load credentials', 'CredentialsProviderError'), { tryNextLink: false }),
      'AWS could not be used: Could not load credentials (CredentialsProviderError)',
    ],
  ])('tells of %s', (_, error, reason) => {
    expect(awsReason(error)).toBe(reason);
  });

  test.each([
    ['a mistake of our own', new TypeError('x is undefined')],
    ['what an admin did wrong', new AdminError('no such key')],
    ['a code of Node', withCode('bad', 'ERR_INVALID_ARG_TYPE')],
    ['what is no error', 'ECONNREFUSED'],
  ])('leaves %s to others', (_, error) => {
    expect(awsReason(error)).toBeUndefined();
  });
});
