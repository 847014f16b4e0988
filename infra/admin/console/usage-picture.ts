import type { DayUsage } from '../../../shared/key-registry/key-usage.ts';
import { counted, formatNumber } from '../service/text.ts';
import { isMostlyRefused, usageFigures } from '../keys/usage.ts';
import { facts, type Html, markup, table } from './markup.ts';

export const CHART_DAYS = 30;
/** Height of the chart, in its own units: it is scaled to its place. */
const HEIGHT = 100;

/** Draws admitted and refused requests per day. @param limit in requests per day */
export const usagePicture = (days: readonly DayUsage[], limit = 0): Html =>
  markup`<section class="card"><h2>Requests per day</h2>${chart(days, limit)}</section>`;

function chart(days: readonly DayUsage[], limit: number): Html {
  const { today, total, refused, peak, highest, lastSampleDay } = usageFigures(days);
  if (total + refused === 0) return markup`<p class="quiet">No requests in ${counted(days.length, 'day')}.</p>`;
  // Next to a much higher limit, the bars would be invisible.
  const hasLine = limit > 0 && limit <= 10 * highest;
  const top = hasLine ? Math.max(limit, highest) : highest;
  const line = HEIGHT - (HEIGHT * limit) / top;
  const figures = {
    Today: formatNumber(today.used),
    [counted(days.length, 'day')]: formatNumber(total),
    Peak: markup`${formatNumber(peak.used)} <small>on ${peak.day}</small>`,
    'Refused, at least': formatNumber(refused),
  };
  const limitText = limit > 0 && `${hasLine ? 'Line: limit' : 'Limit'} ${formatNumber(limit)} per day`;
  const rows = days
    .filter((day) => day.used + day.refused > 0)
    .toReversed()
    .map(({ day, ...counts }) => [day, formatNumber(counts.used), formatNumber(counts.refused)]);
  return markup`${facts(figures)}
<svg class="days" viewBox="0 0 ${Math.max(days.length, 7)} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Requests per day: the table below has the numbers">
<line class="base" x1="0" x2="100%" y1="${HEIGHT}" y2="${HEIGHT}"/>${days.map((day, at) => bars(day, at, HEIGHT / top))}${hasLine && markup`<line x1="0" x2="100%" y1="${line}" y2="${line}"/>`}</svg>
<p class="quiet"><span>${days[0]?.day}</span><span>${limitText}</span><span>${days.length > 6 ? 'today' : ''}</span></p>
${lastSampleDay !== undefined && markup`<p class="quiet">Sample data until ${lastSampleDay}.</p>`}
${days.some(isMostlyRefused) && markup`<p class="quiet">Red background: more than a tenth of the day’s requests was refused.</p>`}
<details><summary>As a table</summary>${table('Requests per day', ['Day (UTC)', 'Admitted', 'Refused'], rows)}</details>`;
}

/** A day: admitted requests, refused ones above them, and behind both a mark if many were refused. */
function bars(day: DayUsage, at: number, scale: number): Html {
  const [used, refused] = [day.used * scale, day.refused * scale];
  const mark = isMostlyRefused(day) && markup`<rect class="mark" x="${at}" y="0" width="1" height="${HEIGHT}"/>`;
  return markup`<g>${mark}<rect x="${at + 0.1}" y="${HEIGHT - used}" width="0.8" height="${used}"/><rect class="refused" x="${at + 0.1}" y="${HEIGHT - used - refused}" width="0.8" height="${refused}"/><title>${day.day}: ${formatNumber(day.used)} admitted, ${formatNumber(day.refused)} refused</title></g>`;
}
