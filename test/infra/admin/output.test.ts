import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { AdminError, failureText, reasonOf } from '../../../infra/admin/admin-error.ts';
import { keyTable } from '../../../infra/admin/commands/key-texts.ts';
import { report } from '../../../infra/admin/commands/options.ts';
import { table } from '../../../infra/admin/commands/output.ts';
import { bar, colour, usageChart } from '../../../infra/admin/commands/usage-command.ts';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { number, percent, time } from '../../../infra/admin/text-format.ts';
import { aKey } from '../../support/tables.ts';

describe('A table', () => {
  const { isTTY, columns } = process.stdout;
  afterEach(() => void Object.assign(process.stdout, { isTTY, columns }));

  const head = ['id', 'name', 'plan'];
  const keyRow = ['2qgnldiehw', 'Acme Pets of the Northern Coast', 'free'];

  test.each([
    ['in a pipe is values with tabs between them', undefined, [head.join('\t'), keyRow.join('\t')]],
    [
      'fits a terminal of 60 columns as it is',
      60,
      ['id          name                             plan', '2qgnldiehw  Acme Pets of the Northern Coast  free'],
    ],
    [
      'breaks its widest column where the terminal is too narrow',
      45,
      [
        'id          name                       plan',
        '2qgnldiehw  Acme Pets of the Northern  free',
        '            Coast',
      ],
    ],
    [
      'becomes lists where the terminal is narrower than its words',
      25,
      ['id    2qgnldiehw', 'name  Acme Pets of the Northern Coast', 'plan  free'],
    ],
  ])('%s', (_, width, lines) => {
    Object.assign(process.stdout, { isTTY: width !== undefined, columns: width });
    const drawn = stripVTControlCharacters(table(head, [keyRow]));
    expect(drawn.split('\n').map((line) => line.trimEnd())).toEqual(lines);
  });

  test('is drawn of names with more words than a function takes arguments', () => {
    Object.assign(process.stdout, { isTTY: true, columns: 1 });
    const names = Array.from({ length: 10_000 }, () => ['x '.repeat(20)]);
    expect(() => table(['name'], names)).not.toThrow();
  });

  test('has the right edges of its numbers below each other', () => {
    Object.assign(process.stdout, { isTTY: true, columns: 80 });
    expect(stripVTControlCharacters(table(['n', 'x'], [['7', 'a']], [0])).split('\n')).toEqual(['n  x  ', '7  a  ']);
    expect(stripVTControlCharacters(table(['used', 'x'], [['7', 'a']], [0]))).toContain('   7  a');
  });
});

test('Text of others has nothing that a terminal acts on: it is shown', () => {
  const name = 'a\u001b[2J\u001b[31m\tb\nc\r\u007f\u009b\u202e\u2066\u2028d';
  const shown = String.raw`a\u001b[2J\u001b[31m\u0009b\u000ac\u000d\u007f\u009b\u202e\u2066\u2028d`;

  expect(report([keyView(aKey({ name }))], keyTable).text).toContain(`\t${shown}\t`);
  expect(new AdminError(`No ${name}`, 'Nothing was done.').message).toBe(`No ${shown}\nNothing was done.`);
  const error = Object.assign(new Error('\u001b]0;x\u0007\u009b'), { $metadata: {} });
  expect(failureText(error, 'wait')).toContain(String.raw`could not be used: \u001b]0;x\u0007\u009b (Error)`);
});

test('Numbers, shares and times read as people write them', () => {
  expect([0, 10_000_000].map(number)).toEqual(['0', '10,000,000']);
  expect([0.0064, 12.5].map(percent)).toEqual(['0.6 %', '1,250.0 %']);
  expect(time('2026-11-21T12:30:59.999Z')).toBe('2026-11-21 12:30 UTC');
});

describe('The chart of usage', () => {
  test.each([
    ['anything at all', 1e-9, '▏', 'green'],
    ['one and a half', 12 / 320, '█▌', 'green'],
    ['the first yellow', 0.7, '█'.repeat(28), 'yellow'],
    ['the first red', 0.9, '█'.repeat(36), 'red'],
    ['more than all of it, after a move to a smaller plan', 3, '█'.repeat(40), 'red'],
  ] as const)('has a bar of %s', (_, share, text, name) => {
    expect(bar(share)).toBe(text);
    expect(colour(share)).toBe(name);
  });

  test('has a line for each day, but one for days in a row without requests; today has its own', () => {
    const days = [0, 0, 0, 1_500, 0, 0].map((requests, at) => ({ date: `2026-11-1${at}`, requests }));
    const chart = usageChart({ id: 'a', name: 'acme', plan: 'free', perDay: 1_000, days });

    expect(stripVTControlCharacters(chart).split('\n')).toEqual([
      'acme, free: requests a day, of 1,000',
      '',
      '2026-11-10 to 2026-11-12: none',
      `2026-11-13  ${'█'.repeat(40)} 1,500  150.0 %`,
      `2026-11-14  ${' '.repeat(40)}     0    0.0 %`,
      `2026-11-15  ${' '.repeat(40)}     0    0.0 %`,
    ]);
  });
});

const named = (message: string, name: string): Error => Object.assign(new Error(message), { name });

test.each([
  ['the message, without a full stop', new Error('It broke. Badly.'), 'It broke. Badly'],
  ['one line', new Error('it broke\n  and again'), 'it broke and again'],
  ['the name where there is no message', named('', 'TimeoutError'), 'TimeoutError'],
  ['the first of several', new AggregateError([new Error('no IPv6'), new Error('no IPv4')]), 'no IPv6'],
  ['no hints for programmers', new Error('not JSON\n  Deserialization error: to see the raw response, …'), 'not JSON'],
])('The reason of a failure is %s', (_, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});

describe('A failure', () => {
  test.each([
    ['ExpiredTokenException', 'Renew the AWS credentials, and start the command again. '],
    ['CredentialsProviderError', 'Renew the AWS credentials, and start the command again. '],
    ['AccessDeniedException', 'The AWS credentials lack this permission: ask whoever manages the account for it. '],
    ['TooManyRequestsException', 'AWS takes no more calls for now: wait a minute. '],
    ['TimeoutError', ''],
  ])('of AWS says what to do: %s', (name, remedy) => {
    expect(failureText(Object.assign(named('No', name), { $metadata: {} }), 'try again')).toBe(
      `AWS could not be used: No (${name}). ${remedy}It is safe to try again: it takes up what was cut off.`,
    );
  });

  test.each([new TypeError('x is undefined'), Object.assign(new Error('bad'), { code: 'ERR_INVALID_ARG_TYPE' })])(
    'of the program is not that of AWS: %s',
    (error) => {
      expect(failureText(error, 'try again')).toBeUndefined();
    },
  );
});
