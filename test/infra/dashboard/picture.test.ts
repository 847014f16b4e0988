import { describe, expect, test } from '@jest/globals';
import type { AlarmStatus } from '../../../infra/dashboard/alarms/alarm-status.ts';
import { parseDashboardBody } from '../../../infra/dashboard/dashboard-body.ts';
import { drawDashboard, type Picture } from '../../../infra/dashboard/picture/picture.ts';
import { cutTo, widthOf, wrap } from '../../../infra/dashboard/picture/svg.ts';
import type { GraphSeries, WidgetContent } from '../../../infra/dashboard/widget-content.ts';
import { elementsOf, textsOf } from '../../support/well-formed.ts';

const noon = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;
const range = { from: noon, to: noon + 10 * MINUTE };

/** Draws one widget. */
function draw(type: string, properties: object, content: WidgetContent): Picture {
  const body = { widgets: [{ type, x: 0, y: 0, width: 12, height: 6, properties }] };
  const widgets = parseDashboardBody(JSON.stringify(body)).map((widget) => ({ widget, content }));
  return drawDashboard({ stackName: 'test-Inventory', range, widgets, alarms: [] });
}

const metrics = { view: 'timeSeries', metrics: [] };

const series = (label: string, ...values: readonly (number | undefined)[]): GraphSeries => ({
  label,
  color: undefined,
  axis: 'left',
  points: values.map((value, index) => [noon + index * MINUTE, value]),
});

const alarm = (name: string, state: AlarmStatus['state']): AlarmStatus => ({
  name: `test-Inventory-${name}`,
  state,
  since: noon + 5 * MINUTE,
  description: '',
  value: undefined,
  threshold: 1,
  notMeasured: [],
});

describe('the picture of a dashboard', () => {
  test('tells the stack, and the time that it shows', () => {
    const { svg, width, height } = draw('text', { markdown: '' }, { kind: 'text', markdown: '' });

    expect(textsOf(svg)).toEqual(['test-Inventory', '2026-11-21, 12:00 to 12:10 UTC, from the logs of a local run']);
    expect(svg).toContain(`viewBox="0 0 ${width} ${height}"`);
  });

  test('has the text of Markdown without its marks', () => {
    const markdown = '## Is it **healthy**?\n\nSee [the page](https://example.com), & more.\n\n- one\n- `two`';
    const { svg } = draw('text', { markdown }, { kind: 'text', markdown });

    expect(textsOf(svg).slice(2)).toEqual(['Is it healthy?', 'See the page, &amp; more.', '• one', '• two']);
  });

  test('is well-formed whatever the names in it are', () => {
    const name = `<a> & "b" 'c'`;
    const graph: WidgetContent = { kind: 'graph', series: [series(name, 1, 2)], notMeasured: [name] };
    const { svg } = draw('metric', { ...metrics, title: name }, graph);

    expect(elementsOf(svg)).toContain('path');
    expect(textsOf(svg)).toContain(`&lt;a&gt; &amp; &quot;b&quot; 'c'`);
  });

  test('has a legend with each line and threshold of a graph, and its axes', () => {
    const threshold = { value: 1_500, label: 'Alarm' };
    const axes = { left: { label: 'count', min: 0 }, right: { label: 'ms', min: 0 } };
    const properties = { ...metrics, yAxis: axes, annotations: { horizontal: [threshold] } };
    const right: GraphSeries = { ...series('p99', 10), axis: 'right' };
    const { svg } = draw('metric', properties, {
      kind: 'graph',
      series: [series('All', 1_000, 400), right],
      notMeasured: [],
    });

    expect(textsOf(svg)).toEqual(expect.arrayContaining(['All', 'p99', 'Alarm (1.5K)', 'count', 'ms', '1K', '12:00']));
  });

  test.each([
    ['no data', [series('All', undefined, undefined)], [], 'No data'],
    ['nothing that is measured', [], ['AWS/SQS Sent'], 'Not measured locally: AWS/SQS Sent'],
    ['something that is not measured', [series('All', 1)], ['AWS/SQS Sent'], 'Not measured locally: AWS/SQS Sent'],
  ])('says so where a graph has %s', (_, lines, notMeasured, text) => {
    const { svg } = draw('metric', metrics, { kind: 'graph', series: lines, notMeasured });

    expect(textsOf(svg)).toContain(text);
  });

  test('has numbers, and a dash for one that is not there', () => {
    const numbers = [
      { label: 'USD an hour', value: 0.012_34 },
      { label: 'Requests', value: undefined },
    ];
    const content: WidgetContent = { kind: 'numbers', numbers, notMeasured: [] };
    const { svg } = draw('metric', { ...metrics, view: 'singleValue' }, content);

    expect(textsOf(svg)).toEqual(expect.arrayContaining(['0.0123', 'USD an hour', '–', 'Requests']));
  });

  test('has the state of each alarm, and since when one is in alarm', () => {
    const alarms = [alarm('api-errors', 'ALARM'), alarm('sync-failed', 'NOT_MEASURED'), alarm('slow-answers', 'OK')];
    const { svg } = draw('alarm', { alarms: [] }, { kind: 'alarms', alarms });

    expect(textsOf(svg).slice(3)).toEqual([
      'api-errors',
      'ALARM since 12:05',
      'sync-failed',
      'Not measured locally',
      'slow-answers',
      'OK',
    ]);
  });

  test('has as many rows of a table as there is room for', () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({ keyId: `key-${index}`, refusals: 40 - index }));
    const table = { view: 'table', query: '' };
    const { svg } = draw('log', table, { kind: 'table', columns: ['keyId', 'refusals'], rows });
    const texts = textsOf(svg);

    expect(texts).toEqual(expect.arrayContaining(['keyId', 'refusals', 'key-0', '40']));
    expect(texts.at(-1)).toBe(`and ${40 - texts.filter((text) => text.startsWith('key-')).length} more`);
    expect(textsOf(draw('log', table, { kind: 'table', columns: [], rows: [] }).svg)).toContain('No lines');
  });
});

describe('a text', () => {
  test('is cut off where it does not fit', () => {
    expect(cutTo(1_000, 'short', 12)).toBe('short');
    expect(cutTo(80, 'rather a long title', 12)).toMatch(/^rather.*…$/);
    expect(widthOf(cutTo(80, 'RATHER A LONG TITLE', 12), 12)).toBeLessThanOrEqual(80);
  });

  test('is broken between its words', () => {
    const lines = wrap(100, 'one two three four five six seven', 12);

    expect(lines.join(' ')).toBe('one two three four five six seven');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(widthOf(line, 12)).toBeLessThanOrEqual(100);
  });
});
