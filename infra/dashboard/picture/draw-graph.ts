import type { AxisSide, WidgetOf } from '../dashboard-body.ts';
import type { TimeRange } from '../time-range.ts';
import type { GraphSeries } from '../widget-content.ts';
import { BELOW_TITLE, type Box, PADDING } from './box.ts';
import { drawChart } from './chart.ts';
import { type LegendItem, legendOf } from './legend.ts';
import { shortNumber } from './numbers.ts';
import { colors, element, textLine } from './svg.ts';

/** One for each series, in turn. */
const palette = [
  '#1f77b4',
  '#ff7f0e',
  '#2ca02c',
  '#9467bd',
  '#8c564b',
  '#17becf',
  '#e377c2',
  '#bcbd22',
  '#393b79',
  '#637939',
];

/** A series with its colour. */
export interface ColoredSeries extends GraphSeries {
  readonly color: string;
}

export interface Threshold {
  readonly value: number;
  readonly label: string;
  readonly color: string;
  readonly axis: AxisSide;
}

/** Draws a graph with its legend below. */
export function drawGraph(
  series: readonly GraphSeries[],
  properties: WidgetOf<'metric'>['properties'],
  range: TimeRange,
  { width, height }: Box,
): string {
  const colored = series.map((one, index): ColoredSeries => {
    const color = one.color ?? palette[index % palette.length] ?? colors.faint;
    return { label: one.label, axis: one.axis, points: one.points, color };
  });
  const thresholds = (properties.annotations?.horizontal ?? []).map(
    ({ value, label = 'Threshold', color = colors.bad, yAxis }): Threshold => ({ value, label, color, axis: yAxis }),
  );
  const legend = legendOf([...colored.map(seriesItem), ...thresholds.map(thresholdItem)], width);
  const legendTop = height - PADDING / 2 - legend.height;
  const chart = drawChart({
    series: colored,
    thresholds,
    range,
    isStacked: properties.stacked,
    axes: properties.yAxis ?? { left: {}, right: {} },
    box: { width, height: legendTop - BELOW_TITLE },
  });
  const isEmpty = colored.every(hasNoData);
  return [
    element('g', { transform: `translate(0 ${BELOW_TITLE})` }, chart),
    isEmpty
      ? textLine(width / 2, (BELOW_TITLE + legendTop) / 2, 'No data', { anchor: 'middle', color: colors.faint })
      : '',
    legend.draw(legendTop),
  ].join('');
}

function hasNoData({ points }: GraphSeries): boolean {
  return points.every(([, value]) => value === undefined);
}

function seriesItem(series: ColoredSeries): LegendItem {
  return { label: series.label, color: series.color, look: hasNoData(series) ? 'empty' : 'series' };
}

function thresholdItem({ label, value, color }: Threshold): LegendItem {
  return { label: `${label} (${shortNumber(value)})`, color, look: 'threshold' };
}
