import { stripVTControlCharacters } from 'node:util';
import { TooManyRequestsException } from '@aws-sdk/client-api-gateway';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { awsReason, reasonOf } from '../../../infra/admin/admin-error.ts';
import { print, table } from '../../../infra/admin/commands/output.ts';
import { number, percent, time } from '../../../infra/admin/words.ts';

describe('in a pipe', () => {
  const { isTTY } = process.stdout;

  beforeEach(() => {
    process.stdout.isTTY = false;
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
  });

  test('a result is, for scripts, one JSON value in one line, and its text is not even made', () => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const text = jest.fn(() => 'It worked.');
    print({ json: true }, { name: 'a\nb', list: [1, null] }, text);
    expect(write.mock.calls).toEqual([['{"name":"a\\nb","list":[1,null]}\n']]);
    expect(text).not.toHaveBeenCalled();
  });
});

describe('in a terminal', () => {
  const { isTTY, columns } = process.stdout;
  afterEach(() => void Object.assign(process.stdout, { isTTY, columns }));

  const keyRow = ['2qgnldiehw', 'Acme Pets of the Northern Coast', 'free'];
  test.each([
    [
      'of 60 columns fits as it is',
      60,
      ['id          name                             plan', '2qgnldiehw  Acme Pets of the Northern Coast  free'],
    ],
    [
      'that is too narrow breaks its widest column',
      45,
      [
        'id          name                       plan',
        '2qgnldiehw  Acme Pets of the Northern  free',
        '            Coast',
      ],
    ],
    [
      'that is narrower than its words becomes lists',
      25,
      ['id    2qgnldiehw', 'name  Acme Pets of the Northern Coast', 'plan  free'],
    ],
  ])('a table %s', (_, width, lines) => {
    Object.assign(process.stdout, { isTTY: true, columns: width });
    const drawn = stripVTControlCharacters(table(['id', 'name', 'plan'], [keyRow]));
    expect(drawn.split('\n').map((line) => line.trimEnd())).toEqual(lines);
  });
});

test('Numbers, shares and times read as people write them', () => {
  expect([0, 10_000_000].map(number)).toEqual(['0', '10,000,000']);
  expect([0.0064, 12.5].map(percent)).toEqual(['0.6 %', '1,250.0 %']);
  expect(time('2026-11-21T12:30:59.999Z')).toBe('2026-11-21 12:30 UTC');
});

const named = (message: string, name: string): Error => Object.assign(new Error(message), { name });

describe('reasonOf', () => {
  const hint =
    'Deserialization error: to see the raw response, inspect the hidden field {error}.$response on this object.';

  test.each([
    ['the message, without a full stop', new Error('It broke. Badly.'), 'It broke. Badly'],
    ['one line', new Error('it broke\n  and again'), 'it broke and again'],
    ['the name where there is no message', named('', 'TimeoutError'), 'TimeoutError'],
    ['the first of several', new AggregateError([new Error('no IPv6'), new Error('no IPv4')]), 'no IPv6'],
    ['no hints for programmers', new Error(`not JSON\n  ${hint}`), 'not JSON'],
  ])('is %s', (_, error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });
});

describe('awsReason', () => {
  test.each([
    [new TooManyRequestsException({ message: 'Too\nmany.', $metadata: {} }), 'Too many (TooManyRequestsException)'],
    [named('socket hang up', 'TimeoutError'), 'socket hang up (TimeoutError)'],
  ])('tells of %s', (error, reason) => {
    expect(awsReason(error)).toBe(`AWS could not be used: ${reason}`);
  });

  test.each([new TypeError('x is undefined'), Object.assign(new Error('bad'), { code: 'ERR_INVALID_ARG_TYPE' })])(
    'leaves %s, a mistake of our own, to others',
    (error) => {
      expect(awsReason(error)).toBeUndefined();
    },
  );
});
