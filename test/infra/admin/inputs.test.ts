import { InvalidArgumentError } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminError } from '../../../infra/admin/admin-error.ts';
import { inputs, limitsOn } from '../../../infra/admin/inputs.ts';
import { stages } from '../../../infra/stages.ts';
import { type PlanId, plans } from '../../../shared/keys/plans.ts';
import { HostClock } from '../../support/host-clock.ts';

let clock: HostClock;
beforeAll(() => {
  clock = new HostClock();
  clock.moveTo(Date.parse('2027-03-04T12:00:00Z'));
});
afterAll(() => clock.release());

test.each<[keyof typeof inputs, string, unknown]>([
  ['name', ' Ünïcode & Söhne 🐶 ', 'Ünïcode & Söhne 🐶'],
  ['label', ' Geschäft ', 'Geschäft'],
  ['grace', '30m', 1_800_000],
  ['grace', '10y', 315_576_000_000],
  ['expires', '2027-03-05', Date.parse('2027-03-05T00:00:00Z')],
  ['expires', '2030-12-31T18:00:30+02:00', Date.parse('2030-12-31T16:00:30Z')],
  ['expires', '90d', Date.parse('2027-06-02T12:00:00Z')],
  ['perMinute', '1000000000', 1_000_000_000],
])('%s takes %j for %j', (name, text, value) => {
  expect(inputs[name].parse(text)).toBe(value);
});

test.each<[keyof typeof inputs, string, string[]]>([
  ['name', 'It must be 1 to 100 bytes', ['  ', 'x'.repeat(101), 'ü'.repeat(51), 'a\nb', 'a\u0085b']],
  ['label', 'It must be 1 to 12 bytes of text, without spaces.', ['', 'x'.repeat(13), 'ü'.repeat(7), 'a b', 'a\u0007']],
  ['grace', 'It must be a length of time such as', ['24', '1.5h', '1h30m', '11y', '999999w']],
  ['for', 'It must be longer than that', ['0s']],
  ['expires', 'It must lie in the future.', ['2027-03-04', '2027-03-04T13:00+01:00', '0s']],
  ['expires', 'It must be a date such as 2030-12-31', ['2030-12', '2029-02-29', '2030-12-31T18:00', '189345']],
  ['perMinute', 'It must be a whole number from 1 to 1,000,000,000.', ['0', '1.0', '1e2', '007', '1000000001']],
])('%s says "%s…" of %j', (name, message, texts) => {
  for (const text of texts) {
    expect(() => inputs[name].parse(text)).toThrow(message);
    expect(() => inputs[name].parse(text)).toThrow(InvalidArgumentError);
  }
});

describe('limits that are agreed', () => {
  const agreed = { perMinute: 5, perDay: 50 };
  const parts = [{ perMinute: 5 }, { perDay: 50 }];

  test('are demanded by Enterprise, both of them', () => {
    expect(limitsOn('enterprise', agreed)).toEqual(agreed);
    for (const part of [{}, ...parts]) expect(() => limitsOn('enterprise', part)).toThrow(AdminError);
  });

  test.each<Exclude<PlanId, 'enterprise'>>(['free', 'pro', 'business'])('are refused by %s, each of them', (plan) => {
    expect(limitsOn(plan, {})).toEqual(plans[plan].limits);
    for (const part of [agreed, ...parts])
      expect(() => limitsOn(plan, part)).toThrow(`The plan ${plan} has fixed limits.`);
  });

  test('are not beyond what a stage has room for', () => {
    const { perMinute, perDay } = stages.production.mostForEnterprise;
    const beyond = { perMinute, perDay: perDay + 1 };

    expect(limitsOn('enterprise', { perMinute, perDay }, 'production')).toEqual({ perMinute, perDay });
    expect(limitsOn('enterprise', beyond)).toEqual(beyond);
    for (const limits of [beyond, { perMinute: perMinute + 1, perDay }])
      expect(() => limitsOn('enterprise', limits, 'production')).toThrow(
        `production agrees to ${perMinute} a minute and ${perDay} a day at most.`,
      );
  });
});
