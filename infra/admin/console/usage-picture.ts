import { setTimeout as sleep } from 'node:timers/promises';
import { awsReason } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { counted, formatNumber } from '../text-format.ts';
import { type Day, type MeteredUsage, meteredUsage, usageFigures, withToday } from '../usage.ts';
import { facts, type Html, markup, table } from './markup.ts';

const DAYS = 30;
const CACHE_MS = 60_000;
/** Maximum wait for API Gateway: a key can be suspended even while API Gateway is slow. */
const MAX_WAIT_MS = 5_000;
const SLOW = 'API Gateway has not responded yet: reload the page in a minute.';
/** Height of the chart, in its own units: it is scaled to its place. */
const HEIGHT = 100;

export interface PictureOf {
  /** Undefined for all keys. */
  readonly keyId?: string;
  readonly usedToday: number;
  /** Limit, in requests per day. */
  readonly limit?: number;
  /** ISO 8601. */
  readonly created?: string;
}

/** Draws requests per day. API Gateway's figures are cached for a minute, as pages refresh themselves. */
export function usagePictures(target: Target): (of: PictureOf) => Promise<Html> {
  const reads = new Map<string, Promise<MeteredUsage | string>>();
  const read = (keyId?: string): Promise<MeteredUsage | string> => {
    const name = keyId ?? '';
    const usage = reads.get(name) ?? meteredUsage(target, DAYS, keyId).catch(reasonOrThrow);
    if (!reads.has(name)) {
      reads.set(name, usage);
      void Promise.allSettled([usage]).then(() => setTimeout(() => reads.delete(name), CACHE_MS).unref());
    }
    return usage;
  };
  return async ({ keyId, usedToday, limit, created }) => {
    const usage = await Promise.race([read(keyId), sleep(MAX_WAIT_MS, SLOW, { ref: false })]);
    if (typeof usage === 'string') return section(markup`<p class="quiet">${usage}</p>`);
    const days = withToday(usage.days, usedToday, created);
    const rest = usage.isComplete
      ? ''
      : 'Incomplete: API Gateway has more keys than are read here. Today’s count includes all.';
    return section(markup`${picture(days, limit)}${rest && markup`<p class="quiet">${rest}</p>`}`);
  };
}

function reasonOrThrow(error: unknown): string {
  const reason = awsReason(error);
  if (reason === undefined) throw error;
  return `${reason}. The requests of earlier days are not shown.`;
}

const section = (content: Html): Html => markup`<section class="card"><h2>Requests per day</h2>${content}</section>`;

function picture(days: readonly Day[], limit = 0): Html {
  const { today, total, peak } = usageFigures(days);
  if (total === 0) return markup`<p class="quiet">No requests in ${counted(days.length, 'day')}.</p>`;
  // Next to a much higher limit, the bars would be invisible.
  const hasLine = limit > 0 && limit <= 10 * peak.requests;
  const top = hasLine ? Math.max(limit, peak.requests) : peak.requests;
  const line = HEIGHT - (HEIGHT * limit) / top;
  const bars = days.map(({ date, requests }, day) => {
    const height = (HEIGHT * requests) / top;
    return markup`<rect x="${day + 0.1}" y="${HEIGHT - height}" width="0.8" height="${height}"><title>${date}: ${formatNumber(requests)}</title></rect>`;
  });
  const figures = {
    Today: formatNumber(today),
    [counted(days.length, 'day')]: formatNumber(total),
    Peak: markup`${formatNumber(peak.requests)} <small>on ${peak.date}</small>`,
  };
  const limitText = limit > 0 && `${hasLine ? 'Line: limit' : 'Limit'} ${formatNumber(limit)} per day`;
  const rows = days
    .filter(({ requests }) => requests > 0)
    .toReversed()
    .map(({ date, requests }) => [date, formatNumber(requests)]);
  return markup`${facts(figures)}
<svg class="days" viewBox="0 0 ${Math.max(days.length, 7)} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Requests per day: the table below has the numbers">
<line class="base" x1="0" x2="100%" y1="${HEIGHT}" y2="${HEIGHT}"/>${bars}${hasLine && markup`<line x1="0" x2="100%" y1="${line}" y2="${line}"/>`}</svg>
<p class="quiet"><span>${days[0]?.date}</span><span>${limitText}</span><span>${days.length > 6 ? 'today' : ''}</span></p>
<details><summary>As a table</summary>${table('Requests per day', ['Day (UTC)', 'Requests'], rows)}</details>`;
}
