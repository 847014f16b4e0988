import { type LogTable, textOf } from '../log-queries/log-query.ts';
import { BELOW_TITLE, type Box, PADDING } from './box.ts';
import { colors, cutTo, element, textLine, widthOf } from './svg.ts';

const SIZE = 12;
const ROW_HEIGHT = 22;
const BETWEEN_COLUMNS = 28;

/** Draws the rows that there is room for. */
export function drawTable({ columns, rows }: LogTable, { width, height }: Box): string {
  const room = Math.max(1, Math.floor((height - BELOW_TITLE - PADDING) / ROW_HEIGHT) - 1);
  if (rows.length === 0) return textLine(PADDING, BELOW_TITLE + ROW_HEIGHT, 'No lines', { color: colors.faint });
  const isCut = rows.length > room;
  const shown = rows.slice(0, isCut ? room - 1 : room);
  const places = columnPlaces(columns, shown, width);
  const lines = [
    columns.map((column) => cell(column, column, { bold: true })),
    ...shown.map((row) => columns.map((column) => cell(column, textOf(row[column]), {}))),
  ];
  return [
    ...lines.map((cells, index) => cells.map((draw) => draw(BELOW_TITLE + (index + 0.7) * ROW_HEIGHT)).join('')),
    rule(BELOW_TITLE + ROW_HEIGHT, width),
    isCut ? textLine(PADDING, height - PADDING, `and ${rows.length - shown.length} more`, { color: colors.faint }) : '',
  ].join('');

  function cell(column: string, text: string, style: { readonly bold?: boolean }): (y: number) => string {
    const { x, room: cellRoom } = places.get(column) ?? { x: PADDING, room: width };
    return (y) => textLine(x, y, cutTo(cellRoom, text, SIZE), { size: SIZE, ...style });
  }
}

function columnPlaces(columns: readonly string[], rows: LogTable['rows'], width: number) {
  const places = new Map<string, { readonly x: number; readonly room: number }>();
  let x = PADDING;
  for (const column of columns) {
    const texts = [column, ...rows.map((row) => textOf(row[column]))];
    const wanted = Math.max(...texts.map((text) => widthOf(text, SIZE) + SIZE));
    const room = Math.max(SIZE, Math.min(wanted, width - PADDING - x));
    places.set(column, { x, room });
    x += room + BETWEEN_COLUMNS;
  }
  return places;
}

function rule(y: number, width: number): string {
  return element('path', { d: `M ${PADDING} ${y} H ${width - PADDING}`, stroke: colors.line });
}
