import type { Hono } from 'hono';
import { type KeyView, listKeys, planViews } from '../keys/key-view.ts';
import { counted, limitText, formatNumber } from '../text-format.ts';
import { partUsed } from '../usage.ts';
import { keyListHtml } from './keys-page.ts';
import { facts, heads, type Html, markup, table } from './markup.ts';
import type { Site } from './site.ts';

/** From this part of a limit on, a key is shown as close to it. */
const CLOSE = 0.8;
const MOST_SHOWN = 100;

const planHeads = heads(['Plan', 'Requests a minute', 'Requests a day', 'Keys', 'Used today']);

/** `/overview`: what the keys do at this moment, who is close to a limit, and who is on which plan. */
export function addOverviewPage(app: Hono, site: Site): void {
  app.get('/overview', async (c) => {
    const views = await listKeys(site.target);
    const close = views.filter((view) => partUsed(view) > CLOSE).toSorted((a, b) => partUsed(b) - partUsed(a));
    const content = markup`<h1>Overview</h1><section data-live="overview" data-seconds="10">
${figures(views)}
<h2>Above ${CLOSE * 100} % of a limit: ${counted(close.length, 'key')}</h2>
${keyListHtml('Keys close to a limit', close.slice(0, MOST_SHOWN)) ?? markup`<p class="empty">No key is close to its limits.</p>`}
<h2>Plans</h2>${planTable(views)}</section>`;
    return site.show(c, { title: 'Overview', part: 'overview' }, content);
  });
}

const sum = (views: readonly KeyView[], of: (view: KeyView) => number): string =>
  formatNumber(views.reduce((total, view) => total + of(view), 0));

function figures(views: readonly KeyView[]): Html {
  const values = {
    'Requests today': sum(views, ({ usedToday }) => usedToday),
    'Requests this minute': sum(views, ({ usedThisMinute }) => usedThisMinute),
    'Refused this minute, at least': sum(views, ({ refusedThisMinute }) => refusedThisMinute),
    'Keys used today': `${sum(views, ({ usedToday }) => Math.min(1, usedToday))} of ${formatNumber(views.length)}`,
  };
  return markup`<div class="card figures">${facts(values)}
<p class="quiet">Days and minutes are those of UTC. Refused requests are those over a limit of their key. Requests of revoked and suspended keys are left out.</p></div>`;
}

function planTable(views: readonly KeyView[]): Html {
  const rows = planViews(views).map(({ plan, title, perMinute, perDay, keys }) => {
    const used = sum(views, (view) => (view.plan === plan ? view.usedToday : 0));
    const link = markup`<a href="keys?plan=${plan}">${title}</a>`;
    return [link, limitText(perMinute), limitText(perDay), formatNumber(keys), used];
  });
  return table('Plans', planHeads, rows);
}
