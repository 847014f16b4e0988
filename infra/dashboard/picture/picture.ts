import type { Widget } from '../dashboard-body.ts';
import type { LocalDashboard } from '../local-dashboard.ts';
import type { TimeRange } from '../time-range.ts';
import type { WidgetContent } from '../widget-content.ts';
import { BELOW_TITLE, type Box, PADDING } from './box.ts';
import { drawAlarms } from './draw-alarms.ts';
import { drawGraph } from './draw-graph.ts';
import { drawNumbers } from './draw-numbers.ts';
import { drawTable } from './draw-table.ts';
import { drawText } from './draw-text.ts';
import { clockTime } from './numbers.ts';
import { colors, cutTo, element, FONT, textLine, wrap } from './svg.ts';

/** The grid of a dashboard has 24 columns (CloudWatch API reference, "Dashboard Body Structure and Syntax"). */
const COLUMNS = 24;
const COLUMN_WIDTH = 62;
const ROW_HEIGHT = 48;
const GAP = 8;
const MARGIN = 16;
const HEADER_HEIGHT = 56;

/** A dashboard as one picture, with its size in pixels. */
export interface Picture extends Box {
  readonly svg: string;
}

/** Draws a dashboard as CloudWatch lays it out. */
export function drawDashboard(dashboard: LocalDashboard): Picture {
  const { stackName, range, widgets } = dashboard;
  const rows = Math.max(0, ...widgets.map(({ widget: { y, height } }) => y + height));
  const width = COLUMNS * COLUMN_WIDTH + 2 * MARGIN;
  const height = rows * ROW_HEIGHT + HEADER_HEIGHT + 2 * MARGIN;
  const svg = element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': FONT },
    element('rect', { width, height, fill: colors.page }),
    ...header(stackName, range),
    ...widgets.map(({ widget, content }) => {
      const x = MARGIN + widget.x * COLUMN_WIDTH;
      const y = MARGIN + HEADER_HEIGHT + widget.y * ROW_HEIGHT;
      const box = { width: widget.width * COLUMN_WIDTH - GAP, height: widget.height * ROW_HEIGHT - GAP };
      return element('g', { transform: `translate(${x} ${y})` }, drawWidget(widget, content, dashboard, box));
    }),
  );
  return { svg, width, height };
}

function header(stackName: string, { from, to }: TimeRange): string[] {
  const day = new Date(from).toISOString().slice(0, 10);
  const isLong = new Date(to - 1).toISOString().slice(0, 10) !== day;
  const times = `${clockTime(from, isLong)} to ${clockTime(to, isLong)} UTC`;
  const what = `${isLong ? '' : `${day}, `}${times}, from the logs of a local run`;
  return [
    textLine(MARGIN + 2, MARGIN + 22, stackName, { size: 22, bold: true }),
    textLine(MARGIN + 2, MARGIN + 42, what, { color: colors.faint }),
  ];
}

function drawWidget(widget: Widget, content: WidgetContent, dashboard: LocalDashboard, box: Box): string {
  if (content.kind === 'text') return drawText(content.markdown, box);
  const title = 'title' in widget.properties ? (widget.properties.title ?? '') : '';
  return [
    element('rect', { ...box, rx: 6, fill: colors.card, stroke: colors.line }),
    textLine(PADDING, 25, cutTo(box.width - 2 * PADDING, title, 14), { size: 14, bold: true }),
    drawContent(widget, content, dashboard, box),
  ].join('');
}

function drawContent(widget: Widget, content: WidgetContent, dashboard: LocalDashboard, box: Box): string {
  if (content.kind === 'alarms') return drawAlarms(content.alarms, dashboard.stackName, box);
  if (content.kind === 'table') return drawTable(content, box);
  if (content.kind === 'text' || widget.type !== 'metric') return '';
  const { notMeasured } = content;
  const isEmpty = content.kind === 'graph' ? content.series.length === 0 : content.numbers.length === 0;
  if (isEmpty) return note(`Not measured locally: ${notMeasured.join(', ')}`, box);
  const room = { width: box.width, height: box.height - (notMeasured.length > 0 ? 16 : 0) };
  const drawn =
    content.kind === 'graph'
      ? drawGraph(content.series, widget.properties, dashboard.range, room)
      : drawNumbers(content.numbers, room);
  if (notMeasured.length === 0) return drawn;
  const missing = cutTo(box.width - 2 * PADDING, `Not measured locally: ${notMeasured.join(', ')}`, 11);
  return drawn + textLine(PADDING, box.height - 9, missing, { size: 11, color: colors.faint });
}

/** What a widget says instead of what it cannot show. */
function note(text: string, { width }: Box): string {
  return wrap(width - 2 * PADDING, text, 12)
    .map((line, index) => textLine(PADDING, BELOW_TITLE + 16 * (index + 1), line, { size: 12, color: colors.faint }))
    .join('');
}
