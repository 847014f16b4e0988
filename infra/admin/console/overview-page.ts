import type { Hono } from 'hono';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { isSuspendedOrDisabled } from '../keys/key-actions.ts';
import { type KeyView, selectKeys } from '../keys/key-view.ts';
import { counted, formatNumber } from '../service/text.ts';
import { dailyUsage, partUsed } from '../keys/usage.ts';
import { keyListHtml } from './keys-page.ts';
import { facts, type Html, markup, table } from './markup.ts';
import type { Site } from './site.ts';
import { CHART_DAYS, usagePicture } from './usage-picture.ts';

/** Share of a limit from which a key is shown as close to it. */
const CLOSE = 0.8;
/** Maximum number of keys in a list. */
const MAX_SHOWN = 25;

/** `/overview`: current usage, keys that need attention, and keys per plan. */
export function addOverviewPage(app: Hono, site: Site): void {
  app.get('/overview', async (c) => {
    const records = await site.keys();
    const views = selectKeys(records);
    const blocked = views.filter(isSuspendedOrDisabled);
    const lists = {
      'Suspended automatically': blocked.filter(({ suspendedBy }) => suspendedBy === 'limiter'),
      [`Above ${CLOSE * 100} % of a limit`]: highest(views, partUsed, CLOSE),
      'Refused today': highest(views, ({ refusedToday }) => refusedToday),
      'Expire within 14 days': selectKeys(records, { state: 'expiring' }),
      'Suspended by an admin, or disabled': blocked.filter(({ suspendedBy }) => suspendedBy !== 'limiter'),
    };
    const content = markup`<h1>Overview</h1><section data-live="overview" data-seconds="30">
${figures(views)}
${Object.entries(lists).map(([title, keys]) => attention(title, keys))}
<h2>Plans</h2>${planTable(views)}</section>${usagePicture(await dailyUsage(site.target, records, CHART_DAYS))}`;
    return site.show(c, { title: 'Overview', part: 'overview' }, content);
  });
}

/** The keys above a value, highest first. */
const highest = (views: readonly KeyView[], of: (view: KeyView) => number, above = 0): readonly KeyView[] =>
  views.filter((view) => of(view) > above).toSorted((a, b) => of(b) - of(a));

/** Keys that need attention; nothing if there are none. */
function attention(title: string, keys: readonly KeyView[]): Html | undefined {
  const list = keyListHtml(title, keys.slice(0, MAX_SHOWN));
  const more = keys.length > MAX_SHOWN && `, the first ${MAX_SHOWN} here`;
  return list && markup`<h2>${title}: ${counted(keys.length, 'key')}${more}</h2>${list}`;
}

const total = (views: readonly KeyView[], of: (view: KeyView) => number): number =>
  views.reduce((sum, view) => sum + of(view), 0);
const sum = (...of: Parameters<typeof total>): string => formatNumber(total(...of));

function figures(views: readonly KeyView[]): Html {
  const values = {
    'Requests today': sum(views, ({ usedToday }) => usedToday),
    'Requests this minute': sum(views, ({ usedThisMinute }) => usedThisMinute),
    'Refused today, at least': sum(views, ({ refusedToday }) => refusedToday),
    'Keys used today': `${sum(views, ({ usedToday }) => Math.min(1, usedToday))} of ${formatNumber(views.length)}`,
  };
  return markup`<div class="card figures">${facts(values)}
<p class="quiet">Minutes and days are in UTC. Refused requests are those over a limit; requests of revoked and suspended keys are not counted.</p></div>`;
}

function planTable(views: readonly KeyView[]): Html {
  const rows = planIds.map((id) => {
    const { title, limits } = plans[id];
    const [minute, day] =
      limits === 'agreed'
        ? (['as agreed', 'as agreed'] as const)
        : ([formatNumber(limits.perMinute), formatNumber(limits.perDay)] as const);
    const onPlan = views.filter(({ plan }) => plan === id);
    const link = markup`<a href="keys?plan=${id}">${title}</a>`;
    return [link, minute, day, formatNumber(onPlan.length), sum(onPlan, ({ usedToday }) => usedToday)];
  });
  return table('Plans', ['Plan', 'Requests per minute', 'Requests per day', 'Keys', 'Used today'], rows);
}
