import { BELOW_TITLE, type Box, PADDING } from './box.ts';
import { shortNumber } from './numbers.ts';
import { colors, textLine } from './svg.ts';

const SIZE = 34;

interface LabelledNumber {
  readonly label: string;
  readonly value: number | undefined;
}

/** Draws numbers side by side, each with its label. */
export function drawNumbers(numbers: readonly LabelledNumber[], { width }: Box): string {
  const room = (width - 2 * PADDING) / numbers.length;
  return numbers
    .map(({ label, value }, index) => {
      const x = PADDING + index * room;
      const text = value === undefined ? '–' : shortNumber(value);
      return [
        textLine(x, BELOW_TITLE + SIZE, text, { size: SIZE, bold: true }),
        textLine(x, BELOW_TITLE + SIZE + 24, label, { color: colors.faint }),
      ].join('');
    })
    .join('');
}
