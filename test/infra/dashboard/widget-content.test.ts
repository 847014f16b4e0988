import { describe, expect, test } from '@jest/globals';
import { parseDashboardBody } from '../../../infra/dashboard/dashboard-body.ts';
import { DashboardError } from '../../../infra/dashboard/dashboard-error.ts';
import { contentOf, type LocalRun } from '../../../infra/dashboard/widget-content.ts';
import { MetricStore } from '../../../infra/local/metrics/metric-store.ts';

const noon = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;

const sample = (name: string, minute: number, value: number) => ({
  namespace: 'Store',
  name,
  dimensions: { stack: 's' },
  at: noon + minute * MINUTE,
  value,
});

const run: LocalRun = {
  events: [],
  store: new MetricStore([
    sample('Requests', 3, 10),
    sample('Requests', 4, 20),
    sample('Requests', 11, 5),
    sample('Failed', 4, 3),
  ]),
  alarms: new Map(),
  range: { from: noon + 2 * MINUTE, to: noon + 12 * MINUTE },
};

const contentOfMetrics = (metrics: readonly unknown[], properties: object = {}) => {
  const widget = { type: 'metric', x: 0, y: 0, width: 8, height: 6 };
  const body = { widgets: [{ ...widget, properties: { view: 'timeSeries', metrics, ...properties } }] };
  return parseDashboardBody(JSON.stringify(body)).map((one) => contentOf(one, run))[0];
};

const requests = ['Store', 'Requests', 'stack', 's'];
const queue = ['AWS/SQS', 'NumberOfMessagesSent', 'QueueName', 'q'];

describe('a graph', () => {
  test('has a data point for each period, as the clock cuts them', () => {
    expect(contentOfMetrics([[...requests, { stat: 'Sum', label: 'All', color: '#123456', yAxis: 'right' }]])).toEqual({
      kind: 'graph',
      notMeasured: [],
      series: [
        {
          label: 'All',
          color: '#123456',
          axis: 'right',
          points: [
            [noon, 30],
            [noon + 5 * MINUTE, undefined],
            [noon + 10 * MINUTE, 5],
          ],
        },
      ],
    });
  });

  test.each([
    ['the row', { period: 60, stat: 'Maximum' }, {}],
    ['the widget', {}, { period: 60, stat: 'Maximum' }],
  ])('takes period and statistic from %s', (_, options, properties) => {
    const content = contentOfMetrics([[...requests, options]], properties);

    const values = [undefined, 10, 20, undefined, undefined, undefined, undefined, undefined, undefined, 5];
    const points = values.map((value, index) => [noon + (2 + index) * MINUTE, value]);
    expect(content).toMatchObject({ series: [{ label: 'Requests', points }] });
  });

  test('evaluates formulas on rows that are not shown themselves', () => {
    const content = contentOfMetrics([
      [{ expression: 'IF(all > 10, 100 * failed / all, 0)', label: 'Share' }],
      [...requests, { id: 'all', stat: 'Sum', visible: false }],
      ['Store', 'Failed', 'stack', 's', { id: 'failed', stat: 'Sum', visible: false }],
    ]);

    expect(content).toMatchObject({
      series: [
        {
          label: 'Share',
          points: [
            [noon, 10],
            [noon + 5 * MINUTE, undefined],
            [noon + 10 * MINUTE, 0],
          ],
        },
      ],
    });
  });

  test('names what a local run does not tell, and does not count without it', () => {
    const content = contentOfMetrics([
      [{ expression: 'SUM([all, sent])', label: 'Both' }],
      [...requests, { id: 'all' }],
      [...queue, { id: 'sent', visible: false }],
    ]);

    expect(content).toMatchObject({ notMeasured: ['AWS/SQS NumberOfMessagesSent'], series: [{ label: 'Requests' }] });
  });

  test.each([
    ['a statistic', [[...requests, { stat: 'tm99' }]], {}],
    ['an abbreviation', [requests, ['.', 'Failed', '.', '.']], {}],
    ['a formula over nothing', [[{ expression: 'FILL(other, 0)' }]], {}],
    ['an option', [[...requests, { accountId: '1' }]], {}],
    ['a kind of view', [requests], { view: 'pie' }],
    ['a property', [requests], { start: '-PT3H' }],
  ])('stops at %s that is not known here', (_, metrics, properties) => {
    expect(() => contentOfMetrics(metrics, properties)).toThrow(DashboardError);
  });
});

describe('a number', () => {
  test.each([
    ['the last data point', {}, 5],
    ['that of the whole time', { setPeriodToTimeRange: true }, 35],
  ])('is %s', (_, properties, value) => {
    const content = contentOfMetrics([[...requests, { stat: 'Sum' }]], { view: 'singleValue', ...properties });

    expect(content).toEqual({ kind: 'numbers', numbers: [{ label: 'Requests', value }], notMeasured: [] });
  });
});

test('a widget of another type stops it', () => {
  const widget = { type: 'explorer', x: 0, y: 0, width: 1, height: 1, properties: {} };

  expect(() => parseDashboardBody(JSON.stringify({ widgets: [widget] }))).toThrow(DashboardError);
});
