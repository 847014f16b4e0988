import { number, percent, styled } from '../output.ts';
import type { Usage } from './daily-usage.ts';

const WIDTH = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Requests per day against the quota, as bars: a full bar is a full quota. */
export function usageChart({ name, plan, perDay, days }: Usage): string {
  const widest = Math.max(...days.map(({ requests }) => number(requests).length));
  const lines = days.map(({ date, requests }) => {
    const share = requests / perDay;
    return `${date}  ${styled(colour(share), bar(share).padEnd(WIDTH))} ${number(requests).padStart(widest)} ${percent(share).padStart(8)}`;
  });
  return [`${styled('bold', name)}, ${plan}: requests a day, of ${number(perDay)}`, '', ...lines].join('\n');
}

/** `share` of the full width, to an eighth of a character; anything at all is seen. */
export function bar(share: number): string {
  const eighths = Math.min(WIDTH * 8, Math.max(share > 0 ? 1 : 0, Math.round(share * WIDTH * 8)));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

export function colour(share: number): 'green' | 'yellow' | 'red' {
  if (share >= 0.9) return 'red';
  return share >= 0.7 ? 'yellow' : 'green';
}
