import { formatNumber, percent } from '../text-format.ts';
import type { Usage } from '../usage.ts';
import { heads, type Html, markup, table } from './markup.ts';

const [WIDTH, HEIGHT] = [20, 160];

/** Bars stand against the quota; where none reaches a quarter of it, against the highest of them. */
export function usageChart({ days, perDay }: Usage): Html {
  const most = Math.max(...days.map(({ requests }) => requests));
  if (most === 0)
    return markup`<p class="quiet">No requests in these ${days.length} days, of ${formatNumber(perDay)} a day.</p>`;
  const top = most * 4 < perDay ? most * 1.25 : Math.max(perDay, most);
  const bars = days.map(({ date, requests }, index) => {
    const tall = requests === 0 ? 0 : Math.max(2, (requests / top) * HEIGHT);
    const kind = requests > perDay * 0.95 ? 'full' : '';
    return markup`<rect class="${kind}" x="${index * WIDTH + 2}" y="${HEIGHT - tall}" width="${WIDTH - 4}" height="${tall}"><title>${date}: ${formatNumber(requests)}</title></rect>`;
  });
  const y = HEIGHT - (perDay / top) * HEIGHT;
  const quota = y < 0 ? '' : markup`<line x1="0" x2="${days.length * WIDTH}" y1="${y}" y2="${y}"/>`;
  const words = `The busiest day had ${formatNumber(most)} ${most === 1 ? 'request' : 'requests'}, ${percent(most / perDay)} of the quota of ${formatNumber(perDay)}.`;
  const rows = days
    .toReversed()
    .map(({ date, requests }) => [date, formatNumber(requests), percent(requests / perDay)]);
  return markup`<p class="quiet">${words}</p>
<svg class="chart" viewBox="0 -2 ${days.length * WIDTH} ${HEIGHT + 4}" preserveAspectRatio="none" role="img" aria-label="${words}">${quota}${bars}</svg>
<p class="axis"><span>${days[0]?.date}</span><span>${quota === '' ? '' : 'line: the quota'}</span><span>today</span></p>
<details><summary>As a table</summary>${table('Requests a day', heads(['Day', 'Requests', 'Of the quota']), rows)}</details>`;
}
