import { describe, expect, test } from '@jest/globals';
import { DashboardError } from '../../../infra/dashboard/dashboard-error.ts';
import { parseDashboardOptions } from '../../../infra/dashboard/options.ts';

describe('npm run dashboard', () => {
  test('needs no option', () => {
    expect(parseDashboardOptions([])).toEqual({ data: '.local', json: false });
  });

  test.each([
    [['--from', '-1h'], { from: { before: 3_600_000 } }],
    [['--from=-90s'], { from: { before: 90_000 } }],
    [['--from', '2026-11-21T09:00Z'], { from: { at: Date.parse('2026-11-21T09:00:00Z') } }],
    [['--to', '2026-11-21T09:00Z'], { to: Date.parse('2026-11-21T09:00:00Z') }],
    [['--out', 'a.png', '--json'], { out: 'a.png', json: true }],
    [['--data', 'here', '--assembly', 'cdk.out'], { data: 'here', assembly: 'cdk.out' }],
  ])('takes %j', (args, options) => {
    expect(parseDashboardOptions(args)).toMatchObject(options);
  });

  test.each([
    [['--from', '-1x']],
    [['--from', '-0h']],
    [['--from', 'yesterday']],
    [['--to', '-1h']],
    [['--out', 'picture.gif']],
    [['--stage', 'production']],
    [['more']],
  ])('says in one line what is wrong with %j', (args) => {
    expect(() => parseDashboardOptions(args)).toThrow(
      expect.objectContaining({
        name: DashboardError.name,
        message: expect.stringMatching(/^.+ \(see npm run dashboard -- --help\)$/),
      }),
    );
  });
});
