import { stripVTControlCharacters, styleText } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { AdminError, failureText } from '../../../infra/admin/service/failures.ts';
import { keyListCsv, keyListText } from '../../../infra/admin/commands/key-output.ts';
import { targetOptionsOf, withTargetOptions } from '../../../infra/admin/commands/options.ts';
import { table } from '../../../infra/admin/commands/output.ts';
import { inputs, limitsOn } from '../../../infra/admin/keys/inputs.ts';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { targetOption, withTarget } from '../../../infra/admin/service/text.ts';
import { NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { stages } from '../../../infra/stages.ts';
import { HostClock } from '../../support/clocks.ts';
import { aKey } from '../../support/tables.ts';

describe('An input', () => {
  let clock: HostClock;
  beforeAll(() => {
    clock = new HostClock();
    clock.moveTo(Date.parse('2027-03-04T12:00:00Z'));
  });
  afterAll(() => clock.release());

  test.each<[keyof typeof inputs, string, unknown]>([
    ['name', ' So\u0308hne Ünïcode & 🐶 ', 'Söhne Ünïcode & 🐶'],
    ['reason', ' 5f0c6d5e-9d5b-4a8e-8f59-0d0a4b1f2c3d main ', '5f0c6d5e-9d5b-4a8e-8f59-0d0a4b1f2c3d main'],
    ['grace', '30m', 1_800_000],
    ['expires', '2027-03-05', Date.parse('2027-03-05T00:00:00Z')],
    ['expires', '2030-12-31T18:00:30+02:00', Date.parse('2030-12-31T16:00:30Z')],
    ['expires', '2030-12-31T04:05:06.789Z', Date.parse('2030-12-31T04:05:06.789Z')],
    ['expires', 'never', NO_EXPIRY],
    ['expires', '90d', Date.parse('2027-06-02T12:00:00Z')],
    ['perMinute', '48,000', 48_000],
    ['perDay', '50000', 50_000],
  ])('is parsed: %s %j is %j', (name, text, value) => {
    expect(inputs[name].parse(text)).toBe(value);
  });

  test.each<[keyof typeof inputs, string, string[]]>([
    ['name', 'It must be 1 to 48 bytes', ['  ', 'ü'.repeat(25), 'a\nb', 'a\u0085b', '\u200b\u2060 \u3164\u2800\u0301']],
    ['label', 'It must be 1 to 8 bytes of text, without spaces.', ['', 'ü'.repeat(5), 'a b', 'a\u0007']],
    ['grace', 'It must be a duration such as', ['24', '1.5h', '1h30m', '11y']],
    ['for', 'It must be a duration such as', ['0s']],
    ['expires', 'It must be in the future.', ['2027-03-04', '2027-03-04T13:00+01:00', '0s']],
    ['expires', 'It must be a date such as', ['2030-12', '2029-02-29', '2030-12-31\n', '2030-12-31T18:00', 'Never']],
    ['expires', 'It must be a date such as', ['189345', '2031-02-30T04:05:06Z', '2031-02-03T04:05:06+24:00']],
    ['name', 'It must not contain a token', [generateToken(), `Acme ${generateToken().slice(4)}`]],
    ['reason', 'It must not contain a token', ['my psk_01234567', `key ${'a1'.repeat(10)}`, generateToken()]],
    ['reason', 'It must be 1 to 200 characters', [' ', 'x '.repeat(101), 'a\nb']],
    [
      'perMinute',
      'It must be a whole number from 1 to 48,000.',
      ['0', '1.0', '1e2', '007', '48001', '50,00', '5,0000'],
    ],
  ])('that is invalid is rejected: %s, "%s…"', (name, message, texts) => {
    for (const text of texts) {
      expect(() => inputs[name].parse(text)).toThrow(message);
      expect(() => inputs[name].parse(text)).toThrow(InvalidArgumentError);
    }
  });

  const { perMinute, perDay } = stages.production.maxEnterpriseLimits;
  const service = { maxEnterpriseLimits: { perMinute, perDay }, place: 'the stage production' };
  const needed = 'The Enterprise plan needs its agreed limits';
  const beyond = /^The stage production accepts at most 1,000 requests .*, 1,440,000 per day\. First .*, and deploy\.$/;

  test.each<[PlanId, Parameters<typeof limitsOn>[1], string | RegExp]>([
    ['enterprise', {}, needed],
    ['enterprise', { perMinute }, needed],
    ['enterprise', { perDay }, needed],
    ['pro', { perMinute }, 'The plan pro has fixed limits.'],
    ['pro', { perDay }, 'The plan pro has fixed limits.'],
    ['enterprise', { perMinute, perDay: perDay + 1 }, beyond],
    ['enterprise', { perMinute: perMinute + 1, perDay }, beyond],
  ])('of agreed limits must fit the plan and the stage: on %s, %j is rejected', (plan, limits, message) => {
    expect(() => limitsOn(plan, limits, service)).toThrow(message);
    expect(limitsOn('enterprise', { perMinute, perDay }, service)).toEqual({ perMinute, perDay });
  });
});

describe('The service of a command', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each<[Record<string, string>, string, object]>([
    [{}, 'list', {}],
    [{}, '--url a list', { url: 'a' }],
    [{ PET_STORE_URL: 'a' }, 'list', { url: 'a' }],
    [{ PET_STORE_STAGE: 'staging' }, 'list --url a', { url: 'a' }],
    [{ PET_STORE_URL: 'a' }, 'list --stage staging', { stage: 'staging' }],
  ])('is that of the options, else of the environment: %j %s', async (variables, words, options) => {
    jest.replaceProperty(process, 'env', { ...process.env, ...variables });
    const program = withTargetOptions(new Command());
    const list = program.command('list').action(() => undefined);
    await program.parseAsync(words.split(' '), { from: 'user' });

    expect(targetOptionsOf(list)).toEqual(options);
  });

  test('is added to every command that a message suggests', () => {
    const message = 'Run npm run admin -- keys list, or npm run admin -- keys sync';
    expect(withTarget(message, targetOption({ stage: 'production' }))).toBe(
      'Run npm run admin -- --stage production keys list, or npm run admin -- --stage production keys sync',
    );
    expect(withTarget(message, targetOption({}))).toBe(message);
  });
});

test('A table has aligned columns on a terminal', () => {
  const { isTTY } = process.stdout;
  process.stdout.isTTY = true;
  const rows = [
    ['2qgnldiehw', styleText('red', 'Acme')],
    ['x', 'Y'],
  ];
  const drawn = table(['id', 'name'], rows);
  process.stdout.isTTY = isTTY;

  expect(stripVTControlCharacters(drawn)).toBe('id          name\n2qgnldiehw  Acme\nx           Y');
});

test('A list of keys adds a date to each shared name, and its CSV contains no formulas', () => {
  const views = ['=1+1', 'acme', 'acme', ' |cmd'].map((name) => keyView(aKey({ keyId: 'k', name, createdAt: 0 })));

  expect(keyListText(views)).toMatch(/\t=1\+1\t.*\n(?:.*\tacme \(1970-01-01\)\t.*\n){2}/);
  const rest = ',free,active,1970-01-01T00:00:00.000Z,,,60,1000,0';
  expect(keyListCsv(views).split('\n')).toEqual([
    '\uFEFFid,name,plan,state,created,expires,lastUsed,perMinute,perDay,usedToday',
    ...["'=1+1", 'acme', 'acme', "' |cmd"].map((name) => `k,${name}${rest}`),
  ]);
});

const ofAws = (error: Error, name = error.name): Error => Object.assign(error, { name, $metadata: {} });

describe('A failure', () => {
  test.each([
    ['CredentialsProviderError', 'Renew the AWS credentials, and run the command again.'],
    ['AccessDeniedException', 'The AWS credentials lack this permission: ask the administrator of the account for it.'],
    ['TooManyRequestsException', 'AWS throttles the calls: wait a minute.'],
  ])('of AWS says what to do: %s', (name, remedy) => {
    expect(failureText(ofAws(new Error('No'), name), 'try again')).toBe(
      `The call to AWS failed: No (${name}). ${remedy} It is safe to try again: it completes the interrupted work.`,
    );
  });

  test('of AWS or of the network is described in one line; a bug gets no description', () => {
    const several = ofAws(new AggregateError([new Error('no IPv6\n  at all. Badly.'), new Error('no IPv4')]));
    const hangUp = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

    expect(failureText(several, 'try again')).toContain(': no IPv6 at all. Badly (');
    expect(failureText(hangUp, 'try again')).toContain('socket hang up (Error). It is safe');
    for (const bug of [new TypeError('x is undefined'), Object.assign(new Error('No'), { code: 'ERR_ASSERTION' })])
      expect(failureText(bug, 'try again')).toBeUndefined();
  });

  test('escapes the characters that a terminal would act on', () => {
    const [name, shown] = [
      'a\u001b[2J\tb\nc\r\u007f\u009b\u202e\u2066\u2028d',
      String.raw`a\u001b[2J\u0009b\u000ac\u000d\u007f\u009b\u202e\u2066\u2028d`,
    ];

    expect(new AdminError(`No ${name}`, 'Nothing was done.').message).toBe(`No ${shown}\nNothing was done.`);
    expect(failureText(ofAws(new Error('\u001b]0;\u009b')), 'wait')).toContain(String.raw`\u001b]0;\u009b (Error)`);
  });
});
