import { PADDING } from './box.ts';
import { colors, cutTo, element, textLine, widthOf } from './svg.ts';

export interface LegendItem {
  readonly label: string;
  readonly color: string;
  /** A threshold is dashed, a series without data is faint. */
  readonly look: 'series' | 'empty' | 'threshold';
}

const SIZE = 11;
const LINE_HEIGHT = 17;
const MARK_WIDTH = 14;
const BETWEEN_ITEMS = 14;

/** What is drawn in which colour, in lines below a chart. */
export interface Legend {
  readonly height: number;
  /** @param top where its first line begins */
  readonly draw: (top: number) => string;
}

export function legendOf(items: readonly LegendItem[], width: number): Legend {
  const room = width - 2 * PADDING;
  let x = 0;
  let line = 0;
  const placed = items.map((item) => {
    const label = cutTo(room - MARK_WIDTH - 6, item.label, SIZE);
    const itemWidth = MARK_WIDTH + 6 + widthOf(label, SIZE);
    if (x > 0 && x + itemWidth > room) {
      x = 0;
      line += 1;
    }
    const at = { x: PADDING + x, line };
    x += itemWidth + BETWEEN_ITEMS;
    return { item, label, at };
  });
  return {
    height: items.length === 0 ? 0 : (line + 1) * LINE_HEIGHT,
    draw: (top) =>
      placed.map(({ item, label, at }) => drawItem(item, label, at.x, top + at.line * LINE_HEIGHT)).join(''),
  };
}

function drawItem({ color, look }: LegendItem, label: string, x: number, top: number): string {
  const middle = top + LINE_HEIGHT / 2;
  const mark = element('path', {
    d: `M ${x} ${middle} H ${x + MARK_WIDTH}`,
    stroke: color,
    'stroke-width': look === 'threshold' ? 1.5 : 4,
    'stroke-dasharray': look === 'threshold' ? '4 3' : undefined,
    opacity: look === 'empty' ? 0.35 : undefined,
  });
  const textColor = look === 'empty' ? colors.faint : colors.text;
  return mark + textLine(x + MARK_WIDTH + 6, middle + 4, label, { size: SIZE, color: textColor });
}
