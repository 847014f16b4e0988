import { describe, expect, test } from '@jest/globals';
import { embeddedMetrics } from '../../../../infra/local/metrics/embedded-metrics.ts';
import type { LogEvent } from '../../../../infra/local/metrics/log-events.ts';

const at = Date.parse('2026-11-21T12:00:00Z');

const event = (fields: LogEvent['fields']): LogEvent => ({ logGroup: 'group', at, message: '', fields });

const directive = (dimensions: string[][], ...names: string[]) => ({
  Namespace: 'Store',
  Dimensions: dimensions,
  Metrics: names.map((Name) => ({ Name, Unit: 'Count' })),
});

const line = (fields: object, ...directives: object[]) =>
  event({ ...fields, _aws: { Timestamp: at, CloudWatchMetrics: directives } });

const sample = (name: string, value: number, dimensions: object) => ({
  namespace: 'Store',
  name,
  dimensions,
  at,
  value,
});

describe('a line in Embedded Metric Format', () => {
  test('has a sample for each set of dimensions', () => {
    const written = line(
      { stack: 's', plan: 'free', Requests: 1 },
      directive([['stack'], ['stack', 'plan']], 'Requests'),
    );

    expect(embeddedMetrics(written)).toEqual([
      sample('Requests', 1, { stack: 's' }),
      sample('Requests', 1, { stack: 's', plan: 'free' }),
    ]);
  });

  test('has a sample for each metric, each value and each directive', () => {
    const written = line({ stack: 's', A: [1, 2], B: 3, C: 4 }, directive([['stack']], 'A', 'B'), directive([[]], 'C'));

    expect(embeddedMetrics(written)).toEqual([
      sample('A', 1, { stack: 's' }),
      sample('A', 2, { stack: 's' }),
      sample('B', 3, { stack: 's' }),
      sample('C', 4, {}),
    ]);
  });

  test.each([
    ['a dimension is missing', line({ A: 1 }, directive([['stack']], 'A'))],
    ['a dimension is no text', line({ stack: 1, A: 1 }, directive([['stack']], 'A'))],
    ['its value is missing', line({ stack: 's' }, directive([['stack']], 'A'))],
    ['its value is no number', line({ stack: 's', A: '1' }, directive([['stack']], 'A'))],
    ['there are too many values', line({ A: Array.from({ length: 101 }, () => 1) }, directive([[]], 'A'))],
    ['there is no time', event({ A: 1, _aws: { CloudWatchMetrics: [directive([[]], 'A')] } })],
    ['it is a line without metrics', event({ A: 1 })],
    ['it is no JSON', event(undefined)],
  ])('has none where %s', (_, written) => {
    expect(embeddedMetrics(written)).toEqual([]);
  });
});
