import type { AlarmStatus } from '../alarms/alarm-status.ts';
import { BELOW_TITLE, type Box, PADDING } from './box.ts';
import { clockTime } from './numbers.ts';
import { colors, cutTo, element, textLine } from './svg.ts';

const CHIP = { width: 350, height: 26, gap: 6 };

const appearance = {
  OK: { color: colors.good, words: 'OK' },
  ALARM: { color: colors.bad, words: 'ALARM' },
  INSUFFICIENT_DATA: { color: colors.faint, words: 'Insufficient data' },
  NOT_MEASURED: { color: colors.line, words: 'Not measured locally' },
} as const;

/**
 * Draws the state of each alarm.
 *
 * @param stack the names of alarms begin with it, and say no more by it
 */
export function drawAlarms(alarms: readonly AlarmStatus[], stack: string, { width }: Box): string {
  const room = width - 2 * PADDING + CHIP.gap;
  const columns = Math.max(1, Math.floor(room / (CHIP.width + CHIP.gap)));
  const chipWidth = room / columns - CHIP.gap;
  return alarms
    .map((alarm, index) => {
      const x = PADDING + (index % columns) * (chipWidth + CHIP.gap);
      const y = BELOW_TITLE + Math.floor(index / columns) * (CHIP.height + CHIP.gap);
      return element('g', { transform: `translate(${x} ${y})` }, ...chip(alarm, stack, chipWidth));
    })
    .join('');
}

function chip({ name, state, since }: AlarmStatus, stack: string, width: number): string[] {
  const { color, words } = appearance[state];
  const isAlarm = state === 'ALARM';
  const status = isAlarm && since !== undefined ? `${words} since ${clockTime(since)}` : words;
  const baseLine = CHIP.height - 8;
  return [
    element('rect', {
      width,
      height: CHIP.height,
      rx: 4,
      fill: isAlarm ? colors.bad : colors.card,
      stroke: isAlarm ? colors.bad : colors.line,
    }),
    element('circle', { cx: 14, cy: CHIP.height / 2, r: 5, fill: isAlarm ? colors.card : color }),
    textLine(28, baseLine, cutTo(width - 170, name.replace(`${stack}-`, ''), 12), {
      size: 12,
      color: isAlarm ? colors.card : colors.text,
    }),
    textLine(width - 10, baseLine, status, {
      size: 12,
      anchor: 'end',
      bold: isAlarm,
      color: isAlarm ? colors.card : colors.faint,
    }),
  ];
}
