import { createServer } from 'node:http';
import { InvalidArgumentError } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminError } from '../../../infra/admin/admin-error.ts';
import { parseDuration, parseFutureTime, parseName, wholeNumberUpTo } from '../../../infra/admin/inputs.ts';
import { agreedLimits } from '../../../infra/admin/keys/agreed-limits.ts';
import { findTarget } from '../../../infra/admin/target.ts';
import { stages } from '../../../infra/stages.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { HostClock } from '../../support/host-clock.ts';
import { close, listen } from '../../support/listening.ts';

describe('a name', () => {
  test.each([
    ['acme', 'acme'],
    ['Ünïcode & Söhne 🐶', 'Ünïcode & Söhne 🐶'],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('may be %j', (text, name) => {
    expect(parseName(text)).toBe(name);
  });

  test.each(['  ', 'x'.repeat(101), 'a\nb', 'a\u0085b'])('may not be %j', (text) => {
    expect(() => parseName(text)).toThrow(InvalidArgumentError);
  });
});

describe('a length of time', () => {
  test.each([
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['2w', 1_209_600_000],
    ['10y', 315_576_000_000],
  ])('%s is %i ms', (text, duration) => {
    expect(parseDuration(text)).toBe(duration);
  });

  test.each(['24', '1.5h', '1h30m', '11y', '999999w'])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidArgumentError);
  });
});

describe('a time in the future', () => {
  let clock: HostClock;
  beforeAll(() => {
    clock = new HostClock();
    clock.moveTo(Date.parse('2027-03-04T12:00:00Z'));
  });
  afterAll(() => clock.release());

  test.each([
    ['2027-03-05', '2027-03-05T00:00:00.000Z'],
    ['2030-12-31T18:00Z', '2030-12-31T18:00:00.000Z'],
    ['2030-12-31T18:00:30+02:00', '2030-12-31T16:00:30.000Z'],
    ['90d', '2027-06-02T12:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(new Date(parseFutureTime(text)).toISOString()).toBe(time);
  });

  test.each(['2027-03-04', '2027-03-04T13:00+01:00', '0s'])('%s has passed', (text) => {
    expect(() => parseFutureTime(text)).toThrow('It must lie in the future.');
  });

  test.each(['2030-12', '2029-02-29', '2030-12-31T18:00', '1893456000'])('%j is none', (text) => {
    expect(() => parseFutureTime(text)).toThrow('It must be a date such as 2030-12-31');
  });
});

describe('a whole number up to 1000', () => {
  const parse = wholeNumberUpTo(1_000);

  test.each([['1000', 1_000]])('may be %s', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test.each(['0', '1.0', '1e2', '007', '1001'])('may not be %j', (text) => {
    expect(() => parse(text)).toThrow('It must be a whole number from 1 to 1,000.');
  });
});

describe('agreed limits', () => {
  const limits = { perMinute: 5, perDay: 50 };

  test('are demanded by Enterprise, both of them', () => {
    expect(agreedLimits('enterprise', limits)).toEqual(limits);
    for (const part of [{}, { perMinute: 5 }, { perDay: 50 }]) {
      expect(() => agreedLimits('enterprise', part)).toThrow(AdminError);
    }
  });

  test.each<PlanId>(['free', 'pro', 'business'])('are refused by %s, each of them', (plan) => {
    expect(agreedLimits(plan, {})).toBeUndefined();
    for (const part of [limits, { perMinute: 5 }, { perDay: 50 }]) {
      expect(() => agreedLimits(plan, part)).toThrow(`The plan ${plan} has fixed limits.`);
    }
  });

  test('are not beyond what a stage has room for', () => {
    const { perMinute, perDay } = stages.production.mostForEnterprise;

    expect(agreedLimits('enterprise', { perMinute, perDay }, 'production')).toEqual({ perMinute, perDay });
    for (const beyond of [
      { perMinute: perMinute + 1, perDay },
      { perMinute, perDay: perDay + 1 },
    ]) {
      expect(() => agreedLimits('enterprise', beyond, 'production')).toThrow(
        'production agrees to 60000 a minute and 86400000 a day at most.',
      );
      expect(agreedLimits('enterprise', beyond)).toEqual(beyond);
    }
  });
});

describe('a local host that refuses strangers', () => {
  const refusal = { __type: 'AccessDeniedException', message: 'This host takes such calls from its own machine alone' };
  const server = createServer((_, response) => response.writeHead(403).end(JSON.stringify(refusal)));

  afterAll(async () => {
    server.closeAllConnections();
    await close(server);
  });

  test('is not taken for one of another version', async () => {
    const origin = `http://127.0.0.1:${await listen(server)}`;

    await expect(findTarget({ url: origin })).rejects.toThrow(
      `The local host at ${origin} takes no admin commands from here: ${refusal.message}. Run the command on the machine`,
    );
  });
});
