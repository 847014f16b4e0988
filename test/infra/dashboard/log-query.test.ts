import { describe, expect, test } from '@jest/globals';
import { DashboardError } from '../../../infra/dashboard/dashboard-error.ts';
import { runLogQuery } from '../../../infra/dashboard/log-queries/log-query.ts';
import type { LogEvent } from '../../../infra/local/metrics/log-events.ts';
import { type Query, queries } from '../../../infra/stack/watching/queries.ts';

const noon = Date.parse('2026-11-21T12:00:00Z');

const line = (seconds: number, fields: Readonly<Record<string, unknown>>, logGroup = 'one'): LogEvent => ({
  logGroup,
  at: noon + seconds * 1_000,
  message: JSON.stringify(fields),
  fields,
});

const report =
  '2026-11-21T12:00:09.000Z\tREPORT RequestId: 1\tDuration: 4.50 ms\tBilled Duration: 85 ms\tMemory Size: 1024 MB\t' +
  'Max Memory Used: 40 MB\tInit Duration: 80.00 ms';

const events: readonly LogEvent[] = [
  line(1, { message: 'Request', keyId: 'k1', plan: 'free', status: '429', reason: 'RATE_LIMIT_EXCEEDED', latency: 10 }),
  line(2, { message: 'Request', keyId: 'k2', plan: 'pro', status: '200', latency: 30 }),
  line(
    3,
    { message: 'Request', keyId: 'k1', plan: 'free', status: '429', reason: 'RATE_LIMIT_EXCEEDED', latency: 20 },
    'two',
  ),
  line(4, { message: 'Request', keyId: 'none', plan: 'none', status: '401', reason: 'API_KEY_INVALID', latency: 5 }),
  line(5, { level: 'ERROR', message: 'Failed', error: { name: 'TypeError', reason: 'no' } }),
  { logGroup: 'one', at: noon + 9_000, message: report, fields: undefined },
  line(6, { message: 'Request', keyId: 'k9', reason: 'RATE_LIMIT_EXCEEDED' }, 'elsewhere'),
];

const run = (...commands: readonly string[]) =>
  runLogQuery(["SOURCE 'one'", "SOURCE 'two'", ...commands].join('\n| '), events);

describe('a log query', () => {
  test('of the dashboard tells who is refused most, and why', () => {
    expect(run(...queries.refusals.lines)).toEqual({
      columns: ['keyId', 'plan', 'reason', 'refusals', 'latestRefusal'],
      rows: [
        {
          keyId: 'k1',
          plan: 'free',
          reason: 'RATE_LIMIT_EXCEEDED',
          refusals: 2,
          latestRefusal: '2026-11-21T12:00:03.000Z',
        },
        {
          keyId: 'none',
          plan: 'none',
          reason: 'API_KEY_INVALID',
          refusals: 1,
          latestRefusal: '2026-11-21T12:00:04.000Z',
        },
      ],
    });
  });

  test.each(Object.values<Query>(queries))('of the saved ones is understood: $name', ({ lines }) => {
    const { columns } = run(...lines);

    expect(columns.length).toBeGreaterThan(1);
  });

  test('shows the fields of the lines that fit, in order, and no more than its limit', () => {
    const { columns, rows } = run('fields @timestamp, keyId', 'filter latency > 5', 'sort latency desc', 'limit 2');

    expect(columns).toEqual(['@timestamp', 'keyId']);
    expect(rows).toMatchObject([
      { keyId: 'k2', '@timestamp': '2026-11-21T12:00:02.000Z' },
      { keyId: 'k1', latency: 20 },
    ]);
  });

  test('knows inner fields, and those of a REPORT', () => {
    expect(run('filter error.name = "TypeError"').rows).toMatchObject([{ 'error.reason': 'no' }]);
    expect(run('filter @type = "REPORT"').rows).toMatchObject([
      { '@duration': 4.5, '@initDuration': 80, '@maxMemoryUsed': 40_000_000, '@log': 'one' },
    ]);
  });

  test.each([
    ['status = 429', 2],
    ['status != "429" and ispresent(status)', 2],
    ['status in ["200", "401"]', 2],
    ['status like /^4/', 3],
    ['@message like /REPORT|ERROR/', 2],
    ['keyId like "k"', 3],
    ['not ispresent(keyId)', 2],
    ['latency * 2 >= 40 or plan = "none"', 3],
    ['latency > -1', 4],
  ])('filters by %s', (condition, count) => {
    expect(run(`filter ${condition}`).rows).toHaveLength(count);
  });

  test('counts, adds up and takes percentiles', () => {
    const { rows } = run(
      'filter message = "Request"',
      'stats count(*) as requests, count(reason) as refused, count_distinct(keyId) as keys, sum(latency) as total, avg(latency) as mean, min(latency) as least, max(latency) as most, pct(latency, 50) as median',
    );

    expect(rows).toEqual([
      { requests: 4, refused: 3, keys: 3, total: 65, mean: 16.25, least: 5, most: 30, median: 10 },
    ]);
  });

  test('counts by the time, and calculates with what it has counted', () => {
    const { columns, rows } = run('stats count(*) as lines, max(@maxMemoryUsed) / 1e6 as megabytes by bin(5m)');

    expect(columns).toEqual(['bin(5m)', 'lines', 'megabytes']);
    expect(rows).toEqual([{ 'bin(5m)': '2026-11-21T12:00:00.000Z', lines: 6, megabytes: 40 }]);
  });

  test.each(['parse @message "* *" as a, b', 'stats stddev(latency)', 'filter strlen(keyId) > 1', 'stats latency'])(
    '%p is not known, and says so',
    (command) => {
      expect(() => run(command)).toThrow(DashboardError);
    },
  );
});
