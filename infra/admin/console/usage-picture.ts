import type { DayUsage } from '../../../shared/key-registry/key-usage.ts';
import { counted, formatNumber } from '../service/text.ts';
import { isMostlyRefused, usageFigures } from '../keys/usage.ts';
import { facts, type Html, markup, table } from './markup.ts';

export const CHART_DAYS = 30;
/** Height of the chart, in its own units: it is scaled to its place. */
const HEIGHT = 100;

/** A day of a picture: a bar, refused requests above it, and behind both perhaps a mark. */
interface Day {
  readonly day: string;
  readonly value: number;
  readonly refused?: number;
  readonly isMarked?: boolean;
  readonly title: string;
}

/** Draws admitted and refused requests per day. @param limit in requests per day */
export const usagePicture = (days: readonly DayUsage[], limit = 0): Html =>
  markup`<section class="card"><h2>Requests per day</h2>${chart(days, limit)}</section>`;

function chart(days: readonly DayUsage[], limit: number): Html {
  const { today, total, refused, peak, lastSampleDay } = usageFigures(days);
  if (total + refused === 0) return markup`<p class="quiet">No requests in ${counted(days.length, 'day')}.</p>`;
  const figures = {
    Today: formatNumber(today.used),
    [counted(days.length, 'day')]: formatNumber(total),
    Peak: markup`${formatNumber(peak.used)} <small>on ${peak.day}</small>`,
    'Refused, at least': formatNumber(refused),
  };
  const rows = days
    .filter((day) => day.used + day.refused > 0)
    .toReversed()
    .map(({ day, ...counts }) => [day, formatNumber(counts.used), formatNumber(counts.refused)]);
  const drawn = days.map((usage): Day => {
    const title = `${formatNumber(usage.used)} admitted, ${formatNumber(usage.refused)} refused`;
    return { day: usage.day, value: usage.used, refused: usage.refused, isMarked: isMostlyRefused(usage), title };
  });
  return markup`${facts(figures)}
${picture('Requests per day', drawn, limit)}
${lastSampleDay !== undefined && markup`<p class="quiet">Sample data until ${lastSampleDay}.</p>`}
${days.some(isMostlyRefused) && markup`<p class="quiet">Red background: more than a tenth of the day’s requests was refused.</p>`}
<details><summary>As a table</summary>${table('Requests per day', ['Day (UTC)', 'Admitted', 'Refused'], rows)}</details>`;
}

/** Draws a bar per day, today last. The label names a table below. @param limit per day, drawn as a line */
export function picture(label: string, days: readonly Day[], limit = 0): Html {
  const highest = Math.max(1, ...days.map(({ value, refused = 0 }) => value + refused));
  // Next to a much higher limit, the bars would be invisible.
  const hasLine = limit > 0 && limit <= 10 * highest;
  const top = hasLine ? Math.max(limit, highest) : highest;
  const line = HEIGHT - (HEIGHT * limit) / top;
  const limitText = limit > 0 && `${hasLine ? 'Line: limit' : 'Limit'} ${formatNumber(limit)} per day`;
  return markup`<svg class="days" viewBox="0 0 ${Math.max(days.length, 7)} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}: the table below has the numbers">
<line class="base" x1="0" x2="100%" y1="${HEIGHT}" y2="${HEIGHT}"/>${days.map((day, at) => bars(day, at, HEIGHT / top))}${hasLine && markup`<line x1="0" x2="100%" y1="${line}" y2="${line}"/>`}</svg>
<p class="quiet"><span>${days[0]?.day}</span><span>${limitText}</span><span>${days.length > 6 ? 'today' : ''}</span></p>`;
}

function bars({ day, title, isMarked, ...values }: Day, at: number, scale: number): Html {
  const [value, refused] = [values.value * scale, (values.refused ?? 0) * scale];
  const mark = isMarked && markup`<rect class="mark" x="${at}" y="0" width="1" height="${HEIGHT}"/>`;
  return markup`<g>${mark}<rect x="${at + 0.1}" y="${HEIGHT - value}" width="0.8" height="${value}"/><rect class="refused" x="${at + 0.1}" y="${HEIGHT - value - refused}" width="0.8" height="${refused}"/><title>${day}: ${title}</title></g>`;
}
