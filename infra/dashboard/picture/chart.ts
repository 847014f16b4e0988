import { init, type EChartsOption, type LineSeriesOption, type YAXisComponentOption } from 'echarts';
import type { AxisSide, WidgetOf } from '../dashboard-body.ts';
import type { TimeRange } from '../time-range.ts';
import type { Box } from './box.ts';
import type { ColoredSeries, Threshold } from './draw-graph.ts';
import { clockTime, shortNumber } from './numbers.ts';
import { colors, FONT } from './svg.ts';

export interface Chart {
  readonly series: readonly ColoredSeries[];
  readonly thresholds: readonly Threshold[];
  readonly range: TimeRange;
  readonly isStacked: boolean;
  readonly axes: NonNullable<WidgetOf<'metric'>['properties']['yAxis']>;
  readonly box: Box;
}

const SIZE = 11;
const DAY_MS = 86_400_000;

/** A graph of so few periods is drawn in steps: each as long as it was, where single points would say little. */
const SHORT = 12;

/** A line of few points shows each of them: one without neighbours would not be seen otherwise. */
const FEW_POINTS = 60;

/** A threshold so many times above the data would press it flat: the legend names it all the same. */
const FAR_ABOVE = 4;

/** Where an axis without data ends: as good as any. */
const WITHOUT_DATA = 1;

const sides: readonly AxisSide[] = ['left', 'right'];

/** Draws the lines and the axes of a graph. @returns an SVG element */
export function drawChart({ box, ...chart }: Chart): string {
  const echart = init(null, null, { renderer: 'svg', ssr: true, ...box });
  echart.setOption(optionOf(chart));
  const svg = echart.renderToSVGString();
  echart.dispose();
  return svg;
}

function optionOf({ series, thresholds, range, isStacked, axes }: Omit<Chart, 'box'>): EChartsOption {
  const { from, to } = rangeOf(series, range);
  const hasRight = series.some(({ axis }) => axis === 'right');
  return {
    animation: false,
    useUTC: true,
    textStyle: { fontFamily: FONT, color: colors.text },
    grid: { left: 54, right: hasRight ? 54 : 24, top: 20, bottom: 22, containLabel: false, outerBoundsMode: 'none' },
    xAxis: {
      type: 'time',
      min: from,
      max: to,
      axisLabel: {
        fontSize: SIZE,
        color: colors.faint,
        hideOverlap: true,
        formatter: (at: number) => clockTime(at, to - from > DAY_MS),
      },
      axisLine: { lineStyle: { color: colors.line } },
      splitNumber: 4,
    },
    yAxis: sides
      .filter((side) => side === 'left' || hasRight)
      .map((side) => yAxis(side, axes[side], highest(side, series, thresholds, isStacked))),
    series: [
      ...series.map((one) => line(one, isStacked, to)),
      ...thresholds.map((threshold) => thresholdLine(threshold, hasRight)),
    ],
  };
}

/** The range, and the whole of the period that it begins in. */
function rangeOf(series: readonly ColoredSeries[], { from, to }: TimeRange): TimeRange {
  return { from: Math.min(from, ...series.flatMap(({ points }) => points[0]?.[0] ?? [])), to };
}

/** How far up an axis goes; undefined where its data decide. */
function highest(
  side: AxisSide,
  series: readonly ColoredSeries[],
  thresholds: readonly Threshold[],
  isStacked: boolean,
): number | undefined {
  const own = series.filter(({ axis }) => axis === side);
  const columns = own[0]?.points.map((_, index) => own.map(({ points }) => points[index]?.[1] ?? 0)) ?? [];
  const most = Math.max(0, ...columns.map((column) => (isStacked ? sum(column) : Math.max(...column))));
  const near = thresholds
    .filter(({ axis, value }) => axis === side && (most === 0 || value <= most * FAR_ABOVE))
    .map(({ value }) => value);
  if (Math.max(0, ...near) > most) return Math.max(...near) * 1.15;
  return most === 0 ? WITHOUT_DATA : undefined;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

type AxisSettings = Chart['axes'][AxisSide];

function yAxis(side: AxisSide, settings: AxisSettings, max: number | undefined): YAXisComponentOption {
  const limit = settings?.max ?? max;
  return {
    type: 'value',
    position: side,
    name: settings?.label ?? '',
    nameGap: 8,
    nameTextStyle: { fontSize: SIZE, color: colors.faint, align: side === 'left' ? 'left' : 'right', padding: 0 },
    min: settings?.min ?? 0,
    ...(limit !== undefined && { max: limit }),
    splitNumber: 3,
    axisLabel: {
      fontSize: SIZE,
      color: colors.faint,
      formatter: (value: number) => shortNumber(value),
      // What is a little above a threshold is no round number.
      showMaxLabel: max === undefined || max === WITHOUT_DATA,
    },
    ...(max === WITHOUT_DATA && { interval: WITHOUT_DATA / 2 }),
    splitLine: { show: side === 'left', lineStyle: { color: '#eaeded' } },
  };
}

type DataPoint = [at: number, value: number | null];

function line({ label, color, axis, points }: ColoredSeries, isStacked: boolean, to: number): LineSeriesOption {
  const data = points.map(([at, value]): DataPoint => [at, value ?? null]);
  // The last step goes on until the graph ends.
  const isShort = data.length <= SHORT;
  const last = data.at(-1)?.[1] ?? null;
  return {
    type: 'line',
    name: label,
    color,
    yAxisIndex: axis === 'left' ? 0 : 1,
    data: [...data, ...(isShort ? [[to, last] satisfies DataPoint] : [])],
    ...(isShort ? { step: 'end' } : {}),
    showSymbol: !isShort && points.length <= FEW_POINTS,
    symbol: 'circle',
    symbolSize: 5,
    lineStyle: { width: 1.8 },
    ...(isStacked && { stack: axis, areaStyle: { opacity: 0.35 } }),
  };
}

/** A series without points, for its line across the graph. */
function thresholdLine({ value, color, axis }: Threshold, hasRight: boolean): LineSeriesOption {
  return {
    type: 'line',
    data: [],
    yAxisIndex: axis === 'right' && hasRight ? 1 : 0,
    markLine: {
      silent: true,
      symbol: 'none',
      label: { show: false },
      lineStyle: { color, type: 'dashed', width: 1.5 },
      data: [{ yAxis: value }],
    },
  };
}
