import type { Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { type KeyView, listKeys } from '../keys/key-view.ts';
import { number, percent, timeOrNever } from '../text-format.ts';
import { closest } from '../usage.ts';
import { keyLink, stateBadge } from './keys-page.ts';
import { facts, heads, type Html, markup, meter, table } from './markup.ts';
import type { Site } from './site.ts';

/** From this part of a limit on, a key is shown as close to it. */
const CLOSE = 0.8;
const MOST_CLOSE = 100;
const MOST_USED = 10;

const closeHeads = heads(['Key', 'Plan', 'This minute', 'Today', 'Used'], [4]);
const usedHeads = heads(['Key', 'Plan', 'State', 'Last used', 'Refused this minute, at least', 'Today'], [4]);

/** `/overview`: what all keys do at this moment, who is close to a limit, and who was here last. */
export function addOverviewPage(app: Hono, site: Site): void {
  app.get('/overview', async (c) => {
    const views = await listKeys(site.target);
    const content = markup`<h1>Overview</h1><section data-live="overview" data-seconds="10">
${figures(views)}
<h2>Above ${CLOSE * 100} % of a limit</h2>${closeKeys(views)}
<h2>Used last</h2>${usedKeys(views)}</section>`;
    return site.show(c, { title: 'Overview', part: 'overview' }, content);
  });
}

function figures(views: readonly KeyView[]): Html {
  const sum = (of: (view: KeyView) => number): string => number(views.reduce((total, view) => total + of(view), 0));
  const values = {
    'Requests today': sum(({ usedToday }) => usedToday),
    'Requests this minute': sum(({ usedThisMinute }) => usedThisMinute),
    'Refused this minute': `at least ${sum(({ refusedThisMinute }) => refusedThisMinute)}`,
    'Keys used today': `${sum(({ usedToday }) => Math.min(1, usedToday))} of ${number(views.length)}`,
  };
  return markup`<div class="card figures">${facts(values)}
<p class="quiet">Counted are requests of keys that are not revoked, in days and minutes of UTC. A busy key takes several in advance: they
count when they are taken. Refused are requests over a limit of their key; those that follow within a second of another are counted with
a later one, or not at all. Requests with an unknown, ended or suspended key, and those that API Gateway refuses itself, are in no count.</p></div>`;
}

function closeKeys(views: readonly KeyView[]): Html {
  const close = closest(views).filter(({ used }) => used > CLOSE);
  if (close.length === 0) return markup`<p class="empty">No key is close to its limits.</p>`;
  const rows = close
    .slice(0, MOST_CLOSE)
    .map((key) => [
      keyLink(key),
      plans[key.plan].title,
      meter('This minute', key.usedThisMinute, key.perMinute),
      meter('Today', key.usedToday, key.perDay),
      percent(key.used),
    ]);
  const more =
    close.length > MOST_CLOSE ? markup`<p class="quiet">The ${MOST_CLOSE} closest of ${number(close.length)}</p>` : '';
  return markup`${more}${table('Keys close to a limit', closeHeads, rows, [4])}`;
}

function usedKeys(views: readonly KeyView[]): Html {
  const rows = views
    .filter(({ lastUsed }) => lastUsed !== null)
    .toSorted((a, b) => (b.lastUsed ?? '').localeCompare(a.lastUsed ?? ''))
    .slice(0, MOST_USED)
    .map((key) => [
      keyLink(key),
      plans[key.plan].title,
      stateBadge(key),
      timeOrNever(key.lastUsed),
      number(key.refusedThisMinute),
      meter('Today', key.usedToday, key.perDay),
    ]);
  if (rows.length === 0) return markup`<p class="empty">No key was used yet.</p>`;
  return table('Keys used last', usedHeads, rows, [4]);
}
