import { describe, expect, test } from '@jest/globals';
import { type Allowance, allowlistProblems, holds, readAllowlist } from '../../../../infra/release/audit/allowlist.ts';
import type { Advisory } from '../../../../infra/release/audit/audit-report.ts';

const advisory: Advisory = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: 'ms',
  severity: 'high',
  title: 'Slow',
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
};
const good: Allowance = { advisory: advisory.id, reason: 'Only in the tests.', until: '2026-12-31' };
const problems = (allowances: Allowance[], now: string) => allowlistProblems(allowances, [advisory], Date.parse(now));

describe('an allowance', () => {
  test.each([
    ['on the day before', '2026-12-30T00:00:00Z', true],
    ['to the end of its last day', '2026-12-31T23:59:59.999Z', true],
    ['not a moment longer', '2027-01-01T00:00:00Z', false],
  ])('holds %s', (_, now, expected) => {
    expect(holds(good, Date.parse(now))).toBe(expected);
    expect(problems([good], now)).toEqual(
      expected ? [] : ['the allowance for GHSA-aaaa-bbbb-cccc ended on 2026-12-31'],
    );
  });

  test.each<[what: string, allowances: Allowance[], problem: string]>([
    ['that gives no reason', [{ ...good, reason: ' ' }], 'the allowance for GHSA-aaaa-bbbb-cccc gives no reason'],
    [
      'that gives no date',
      [{ ...good, until: '' }],
      'the allowance for GHSA-aaaa-bbbb-cccc gives no date such as 2027-01-31',
    ],
    [
      'with a day that there is not',
      [{ ...good, until: '2027-02-30' }],
      'the allowance for GHSA-aaaa-bbbb-cccc gives no date such as 2027-01-31',
    ],
    [
      'for nothing any more',
      [good, { ...good, advisory: 'GHSA-gone' }],
      'the allowance for GHSA-gone matches nothing any more: take it out',
    ],
    ['that is there twice', [good, good], 'GHSA-aaaa-bbbb-cccc is allowed twice'],
  ])('%s is a problem', (_, allowances, problem) => {
    expect(problems(allowances, '2026-11-21T00:00:00Z')).toEqual([problem]);
  });

  test.each([{ reason: '' }, { until: '' }, { until: 'soon' }])('with %j does not hold', (change) => {
    expect(holds({ ...good, ...change }, Date.parse('2026-11-21T00:00:00Z'))).toBe(false);
  });
});

test('The allow-list of the service can be read, and has no problem of form', () => {
  const allowances = readAllowlist('infra/release/audit/allowlist.json');

  expect(allowances.filter((one) => !holds(one, 0))).toEqual([]);
});
