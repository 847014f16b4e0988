import type { Hono } from 'hono';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { allRecords } from '../keys/find-key.ts';
import { type KeyView, selectKeys } from '../keys/key-view.ts';
import { counted, formatNumber } from '../service/text.ts';
import { dailyUsage, partUsed } from '../keys/usage.ts';
import { keyListHtml } from './keys-page.ts';
import { facts, type Html, markup, table } from './markup.ts';
import type { Site } from './site.ts';
import { CHART_DAYS, usagePicture } from './usage-picture.ts';

/** Share of a limit from which a key is shown as close to it. */
const CLOSE = 0.8;
const MAX_SHOWN = 100;

/** `/overview`: current usage, keys close to a limit, and keys per plan. */
export function addOverviewPage(app: Hono, site: Site): void {
  app.get('/overview', async (c) => {
    const records = await allRecords(site.target);
    const views = selectKeys(records);
    const close = views.filter((view) => partUsed(view) > CLOSE).toSorted((a, b) => partUsed(b) - partUsed(a));
    const days = await dailyUsage(site.target, records, CHART_DAYS);
    const content = markup`<h1>Overview</h1><section data-live="overview" data-seconds="10">
${figures(views)}
<h2>Above ${CLOSE * 100} % of a limit: ${counted(close.length, 'key')}</h2>
${keyListHtml('Keys close to a limit', close.slice(0, MAX_SHOWN)) ?? markup`<p class="empty">No keys are close to their limits.</p>`}
<h2>Plans</h2>${planTable(views)}</section>${usagePicture(days)}`;
    return site.show(c, { title: 'Overview', part: 'overview' }, content);
  });
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
